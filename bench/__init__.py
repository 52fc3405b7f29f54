"""Benchmarks: ratios to peers and to a ceiling, in one run on one machine, with every commit on the disk."""
