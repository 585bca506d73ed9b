"""Benchmarks of single operations: turns (the right to run, passed from thread to thread), traps, the start of
processes, cgroups, mailboxes.
"""
