"""The checks of a scenario (its section `check:`): commands that run beside the cluster, and patterns that the output
of processes must match.
"""
