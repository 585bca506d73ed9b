"""Programs that run on emulated hosts, with the standard library only."""
