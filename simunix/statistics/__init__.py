"""Statistics of repeated runs: intervals of means, differences by common seeds, how many repetitions are needed.

One repetition (one seed) is one observation: jobs within a run wait for each other, so jobs are no independent observations.
"""
