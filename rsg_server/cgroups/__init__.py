"""Cgroups of version 2: for each host a tree of groups, the processes in them, their control files, and the controllers.

The shim makes folders natively and reports them (csrc/shim/sys/cgroup); folders and files lie in a tmpfs of the host's own.
"""
