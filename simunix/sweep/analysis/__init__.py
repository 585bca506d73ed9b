"""Evaluate the repetitions of an experiment: means with intervals, differences between settings, pictures."""
