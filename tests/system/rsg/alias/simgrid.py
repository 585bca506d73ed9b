"""Lets a script that imports SimGrid's module run with ours, unchanged."""

from simunix.rsg import *  # noqa: F403
