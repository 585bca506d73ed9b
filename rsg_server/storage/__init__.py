"""Disks of hosts as a resource: an operation waits for a latency, then shares bandwidths with other operations and flows."""
