"""Jobs before they run: formats of traces, transforms, generators, and the program that submits jobs inside an emulation.

This package is the lowest of `simunix`: it knows jobs and traces, but neither scenarios nor runs nor an RJMS.
"""
