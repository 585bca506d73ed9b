"""Flows over links."""
