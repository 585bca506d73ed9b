"""Perturbs runs as two runs of one workload on a real cluster differ: by random changes that follow from the seed.

Seed 0 changes nothing.
"""
