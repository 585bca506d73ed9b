"""How a policy's daemon (simunix.policy) speaks with Slurm. All of it runs on the controller's host, and needs the
standard library only.
"""
