"""Compute the metrics of a schedule: of single jobs, of the whole schedule, over time, between users, over repetitions.

All functions take and return pandas objects. A *job table* is a data frame with one row per job and the columns of Batsim's
jobs.csv that `simunix.metrics.jobs` names; all times are seconds. Only `jobs`, `logs` and `rjms` (captures) read files.
"""
