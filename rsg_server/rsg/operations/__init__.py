"""The operations of csrc/shared/wire/rsg_protocol.h: one function each, by family; table.py has their numbers and fields."""
