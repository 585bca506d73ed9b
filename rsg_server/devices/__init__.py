"""Devices of emulated hosts: which files stand for them, and what opening one comes to."""
