"""What if: variants of a scenario run side by side, and what became of each job, user, account, partition and QOS."""
