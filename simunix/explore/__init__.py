"""`simunix explore`: runs a scenario by many seeds, each of which chooses another legal course of events."""
