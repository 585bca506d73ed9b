"""Compute, from the measured cost of each turn, how much of a run's work could be done at the same time on several
cores.
"""
