"""Compare real Slurm daemons in real time with emulated ones: the same submissions at the same moments, and what became
of the jobs.
"""
