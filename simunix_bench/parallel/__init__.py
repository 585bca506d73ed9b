"""How much of a run's work could be done at the same time on several cores, computed from what each turn has cost."""
