"""The operations of csrc/shared/rsg_protocol.h: one function each, by family; table.py has their numbers and fields."""
