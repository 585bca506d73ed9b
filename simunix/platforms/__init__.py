"""Platforms for people: shown, drawn, converted."""
