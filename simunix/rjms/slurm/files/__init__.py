"""Slurm's configuration files: one reader, one writer, and what their lines say of nodes."""
