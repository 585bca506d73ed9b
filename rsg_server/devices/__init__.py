"""The devices of emulated hosts: which files stand for devices, and which driver opens each of them."""
