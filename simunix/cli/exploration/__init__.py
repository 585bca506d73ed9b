"""`simunix explore` and `simunix replay`."""
