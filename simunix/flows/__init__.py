"""Flows given as data: read from a file, moved over a platform by the network model alone, written with finish times."""
