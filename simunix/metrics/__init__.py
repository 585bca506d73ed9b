"""What a schedule was worth: metrics of jobs, of the whole, over time, between users, over repetitions.

Everything takes and returns pandas objects. A *job table* is a data frame with one row per job and the columns of Batsim's
jobs.csv that `simunix.metrics.jobs` names; all times are seconds. Only `simunix.metrics.jobs` and `logs` read files.
"""
