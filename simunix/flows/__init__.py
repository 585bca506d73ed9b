"""Flows given as data: read, moved over a platform by a model alone, and written with their finish times."""
