"""`simunix workload`: shows traces of jobs, makes traces from other traces, and generates workloads from published
models.
"""

from simunix.cli.workload.operations import add_parser

__all__ = ["add_parser"]
