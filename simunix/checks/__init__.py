"""`check:` of a scenario: the commands that a run makes, and what the output of processes must say."""
