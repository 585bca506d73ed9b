"""What reports need of the kernel (rsg_server.kernel), as protocols: reports read the state of a run and change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.options import KernelOptions
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.sockets.table import SocketTable


class Kernel(Protocol):
    """Hosts, processes, actors and sockets as they are now."""

    @property
    def now_ns(self) -> int: ...
    @property
    def options(self) -> KernelOptions: ...
    @property
    def hosts(self) -> Mapping[str, HostState]: ...
    @property
    def processes(self) -> Mapping[int, Process]: ...
    @property
    def actors(self) -> Mapping[int, Actor]: ...
    @property
    def cpu_timers(self) -> CpuTimers: ...
    @property
    def sockets(self) -> SocketTable: ...
