"""Cgroups of version 2: for each host a tree of groups, who is in them, their control files, and what the controllers enforce.

The shim makes folders natively and tells of them (csrc/shim/sys/cgroup); folders and files lie in a tmpfs of the host's own.
"""
