"""Programs for power control that run on emulated hosts, and use only the standard library."""
