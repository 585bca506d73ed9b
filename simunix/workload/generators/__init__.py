"""Workloads made from published models, one file per model.

Every generator writes its parameters into the header of its trace. Random numbers come from numpy's default generator (PCG64)
with the seed that is given, so that equal parameters give equal traces.
"""
