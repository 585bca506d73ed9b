"""Make a scenario that runs from a site's own Slurm files (`simunix slurm import`)."""
