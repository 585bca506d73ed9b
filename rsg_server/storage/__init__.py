"""Disks of hosts as a resource: operations that wait for a latency, then share bandwidths with each other and with flows."""
