"""Jobs before they run: formats of traces, transforms, generators, and the program that submits jobs inside of an
emulation.

This package is the lowest of `simunix`: it knows jobs and traces, but no scenarios, no runs and no RJMS.
"""
