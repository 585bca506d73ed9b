"""Read and write Slurm's configuration files, and find what their lines say about nodes."""
