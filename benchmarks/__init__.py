"""Measurements as data: one judge, many rivals. `python -m benchmarks --help`."""
