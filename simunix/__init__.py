"""Unmodified cluster daemons in virtual time: scenarios, launching, workloads, reports, command line."""

__version__ = "0.2.0"
