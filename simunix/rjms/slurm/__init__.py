"""Slurm: configuration text, daemons, accounting."""
