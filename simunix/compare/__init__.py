"""Compares variants of a scenario: runs them side by side, and says how each job, user, account, partition and QOS
fared in each.
"""
