"""The operations of Remote SimGrid (csrc/shared/wire/rsg_protocol.h): a function for each.

The functions are in a file for each family; table.py lists their numbers and fields.
"""
