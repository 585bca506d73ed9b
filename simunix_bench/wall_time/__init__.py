"""Benchmarks whose aim is a wall time: a day's workload with accounting, busy loops, the start of a database."""
