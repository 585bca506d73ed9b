"""Slurm and the power of its nodes: power saving, caps and budgets, by Slurm's own programs and public commands."""
