"""Experiments: run one scenario in many variants, several runs at a time."""
