"""The adapter for Slurm: its section of a scenario, configuration files, daemons, clients and accounting."""
