"""Instruction counts of the kernels: they do not depend on a busy machine."""
