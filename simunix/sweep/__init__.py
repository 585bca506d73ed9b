"""Experiments: one scenario in many variants, run side by side."""
