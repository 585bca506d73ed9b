"""Handlers of what programs ask of their host's kernel objects: docs/internals/kernel-objects.md."""
