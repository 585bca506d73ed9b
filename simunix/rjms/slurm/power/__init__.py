"""The power of Slurm's nodes: power saving, caps and energy budgets, implemented with Slurm's own programs and public
commands.
"""
