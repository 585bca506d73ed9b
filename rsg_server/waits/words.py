"""Writes lists as text for reports."""

from __future__ import annotations

SHOWN = 4
"""How many entries of a list are written before "and N more"."""


def listed(words: list[str]) -> str:
    """Write a list as text, e.g. `a, b, c, d and 3 more`."""
    shown = words[:SHOWN]
    return ", ".join(shown) + (f" and {len(words) - len(shown)} more" if len(words) > len(shown) else "")
