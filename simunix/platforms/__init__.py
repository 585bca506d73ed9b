"""Platforms shown as tables, drawn, and converted between SimGrid's files and scenarios."""
