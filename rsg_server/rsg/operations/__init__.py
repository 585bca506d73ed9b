"""The operations of csrc/shared/wire/rsg_protocol.h: a function for each, by family; table.py lists numbers and fields."""
