"""Statistics of repeated runs: confidence intervals of means, differences by common seeds, and the number of
repetitions needed.

One repetition (one seed) is one observation. The jobs of a run wait for each other, and so are not independent
observations.
"""
