"""The handlers of messages about kernel objects of a host, such as cgroups and devices (docs/internals/kernel-objects.md)."""
