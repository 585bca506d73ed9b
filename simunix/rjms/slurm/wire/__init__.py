"""How Slurm's programs talk over the network: which message a stream of bytes goes on with."""
