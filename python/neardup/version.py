"""The version, without importing anything heavy."""

VERSION = "0.1.0"
