"""Recognise the messages of Slurm's programs in the bytes of a connection."""
