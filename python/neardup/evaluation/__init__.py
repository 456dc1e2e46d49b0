"""The laboratory: exact answers, judged pairs, certificates and curves; how right a detector is, in numbers."""
