"""The files by which programs on a host see and change its power: frequencies, joules and limits.

The shim asks the server for these files.
"""
