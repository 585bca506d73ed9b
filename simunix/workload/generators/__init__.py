"""Workloads made from published models. Each generator is seeded, and says in the header what it was given.

One file a model; `kinds.py` is the table of them. Randomness comes from numpy's default generator (PCG64), seeded.
"""
