"""Experiments: one scenario in many variants, several runs at a time."""
