"""Slurm: its section of a scenario, configuration text, daemons, clients and accounting."""
