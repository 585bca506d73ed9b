"""Explains why a run has failed: the choice that decides, what the processes do there, and how likely the failure is."""
