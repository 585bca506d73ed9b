"""Computes the power (watts) and the energy (joules) that hosts, links and enclosures draw over virtual time."""
