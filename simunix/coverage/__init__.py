"""Tells what simunix does with each system call, and with the calls of a given program, by the table that is built from
csrc/tables/syscalls.def.
"""
