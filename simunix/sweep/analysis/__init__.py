"""What the repetitions of an experiment tell: means with intervals, differences between settings, pictures."""
