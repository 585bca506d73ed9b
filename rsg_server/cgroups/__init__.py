"""The cgroups (version 2) of emulated hosts: each host has a tree of groups with processes, control files and controllers.

A program's mkdir and rmdir of a group take place in a tmpfs of the host; the shim reports them to the server
(csrc/shim/sys/cgroup). The server makes the control files.
"""
