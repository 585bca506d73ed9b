"""Generate workloads from published models, one file per model.

Every generator writes its parameters into the header of the trace. Random numbers come from numpy's default generator
(PCG64) with the given seed, so that equal parameters give equal traces.
"""
