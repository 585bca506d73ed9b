"""The operations of Remote SimGrid (csrc/shared/wire/rsg_protocol.h): a function for each.

Each family of operations has a file; table.py lists the numbers and fields of all operations.
"""
