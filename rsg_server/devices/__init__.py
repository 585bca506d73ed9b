"""Devices of emulated hosts: the files that stand for them, and the drivers that open them."""
