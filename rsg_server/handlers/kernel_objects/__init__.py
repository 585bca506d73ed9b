"""Handlers of messages about the kernel objects of a host: docs/internals/kernel-objects.md."""
