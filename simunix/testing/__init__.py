"""Small emulated clusters for tests of distributed programs; `simunix.pytest_plugin` provides them as a fixture of
pytest.
"""

from simunix.testing.cluster import Cluster, ClusterOptions
from simunix.testing.process import EmulatedHost, EmulatedProcess
from simunix.testing.program import Program, ProgramError
from simunix.testing.result import RunResult

__all__ = [
    "Cluster",
    "ClusterOptions",
    "EmulatedHost",
    "EmulatedProcess",
    "Program",
    "ProgramError",
    "RunResult",
]
