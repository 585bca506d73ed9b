"""Writes lists as text, for reports."""

from __future__ import annotations

SHOWN = 4
"""The most entries of a list that are written; the others become "and N more"."""


def listed(words: list[str]) -> str:
    """Return a list as text, e.g. `a, b, c, d and 3 more`."""
    shown = words[:SHOWN]
    return ", ".join(shown) + (f" and {len(words) - len(shown)} more" if len(words) > len(shown) else "")
