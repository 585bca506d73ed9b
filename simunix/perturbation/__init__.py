"""What differs between two runs of the same workload on a real cluster, drawn from the seed. Seed 0: nothing differs."""
