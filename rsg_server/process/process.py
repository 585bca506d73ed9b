"""A process: its host, its family, its threads, and the pidfd that reports its death."""

from __future__ import annotations

import os
import signal
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi
from rsg_server.observers import Observers
from rsg_server.process.host_state import HostState
from rsg_server.storage.counts import IoCounts

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.zombies import Zombie


_STATUS_MAX = 16384
_PENDING = ("\nSigPnd:", "\nShdPnd:")


@dataclass(slots=True)
class Timer:
    """ITIMER_REAL (id 0) or a POSIX timer of one process; times are virtual nanoseconds, `next_ns` is 0 when disarmed."""

    next_ns: int = 0
    interval_ns: int = 0
    signal: int = 0
    tid: int = 0
    value: int = 0
    event: Event | None = None
    was_sent: bool = False
    overruns: int = 0  # expirations that were merged into the signal sent last
    cpu_of: Actor | Process | None = None  # whose CPU time it counts, also in `next_ns`; None: virtual time
    overruns_taken: int = 0  # expirations that were merged into the signal before that


def _record() -> Any:
    """Make the struct turn_process of a process that has neither a pidfd nor a limit of memory."""
    return ffi.new("struct turn_process *", {"pidfd": -1, "memory_due_ns": -1})


@dataclass(eq=False, slots=True)
class Process:
    """An emulated process. `pid` is its number in its host's PID namespace, `global_pid` that in the server's.

    What every turn needs of a process is in `record`, a struct turn_process, which the core (csrc/turn/) also reads.
    """

    number: int
    host: HostState
    parent: Process | None
    program: str
    _: KW_ONLY
    seed: int
    nofile: tuple[int, int]
    descriptor_floor: int = 1024  # descriptors from this number on are the shim's own
    pid: int = 0
    global_pid: int = 0
    actors: list[Actor] = field(default_factory=list)
    children: list[Process] = field(default_factory=list)
    zombies: list[Zombie] = field(default_factory=list)  # dead children that the process may not have waited for
    timers: dict[int, Timer] = field(default_factory=dict)
    vfork_parent: Actor | None = None
    is_quiet: bool = False  # born by a vfork, without a HELLO: the first message says which process it is
    has_let_go: bool = False  # of a parent that waits in vfork: this process has exec'd or died
    hears_kernel: bool = False  # the kernel may send signals of its own (terminals, O_ASYNC)
    seen_pending: int = 0  # the kernel's signals that were pending at the last look, as a mask
    told: int = 0  # signals that were sent inside of the emulation, as a mask
    doomed: list[Process] = field(default_factory=list)  # members of a group that it is about to kill
    orphaned_ns: int = -1  # when its parent died
    dead: bool = False
    exit_status: int | None = None  # as the process announced; of a dead started program, as wait(2) tells
    started: bool = False  # started by `Programs.spawn`, not by another emulated process
    label: str = ""
    cpu_policy: str = ""  # of the started process that it descends from; empty: its host's (rsg_server.processor.policies)
    born_ns: int = 0
    cpu_ns: int = 0  # the CPU time that it has been charged
    children_cpu_ns: int = 0  # the CPU time that its dead children and their dead children had been charged
    dead_children_ns: dict[int, int] = field(default_factory=dict)  # CPU time of dead children by pid, if they had been charged
    io: IoCounts = field(default_factory=IoCounts)
    images: int = 0  # programs that the process has run
    filters: tuple[int, int] = (0, 0)  # system call filters that it has set itself: mode and number (seccomp(2))
    reaper: Process | None = (
        None  # process 1 of the PID namespace within its host's that it is in, maybe itself; None: in its host's
    )
    outside: Process | None = None  # of such a process 1: the reaper of the namespace around; None: the host's
    cgroup: object | None = None  # rsg_server.cgroups.group.Group; None: the root group
    cgroup_cpu_ns: int = 0  # `cpu_ns` when it came into that group
    memory_used: int = 0  # bytes, when its cgroup last counted it
    is_traced: bool = False  # its host is to bring the shim into what it execs
    on_exit: Observers[Process] = field(default_factory=Observers)
    record: Any = field(default_factory=_record)
    _cpu_limit: tuple[int, int] | None = None
    _has_cpu_timers: bool = False

    def __post_init__(self) -> None:
        self.record.number, self.record.woken_in = self.number, self.host.woken_in

    def __repr__(self) -> str:
        return f"{os.path.basename(self.program) or '?'}[{self.pid}]@{self.host.name}"

    @property
    def pidfd(self) -> int:
        """The descriptor that is readable once the real process has ended; -1 if there is none."""
        pidfd: int = self.record.pidfd
        return pidfd

    @pidfd.setter
    def pidfd(self, pidfd: int) -> None:
        self.record.pidfd = pidfd

    @property
    def stopped(self) -> bool:
        """Whether a signal has stopped the process."""
        return bool(self.record.stopped)

    @stopped.setter
    def stopped(self, stopped: bool) -> None:
        self.record.stopped = stopped

    @property
    def frozen(self) -> bool:
        """Whether the process's cgroup is frozen."""
        return bool(self.record.frozen)

    @frozen.setter
    def frozen(self, frozen: bool) -> None:
        self.record.frozen = frozen

    @property
    def is_held(self) -> bool:
        """Whether none of the process's threads may have a turn: a signal has stopped the process, or its cgroup is frozen."""
        return bool(self.record.stopped or self.record.frozen)

    @property
    def has_boxes(self) -> bool:
        """Whether the process's threads may leave requests in their boxes (rsg_server.shared.boxes)."""
        return bool(self.record.has_boxes)

    @has_boxes.setter
    def has_boxes(self, has_boxes: bool) -> None:
        self.record.has_boxes = has_boxes

    @property
    def memory_due_ns(self) -> int:
        """The moment at which the process's memory is counted next; -1: never."""
        due_ns: int = self.record.memory_due_ns
        return due_ns

    @memory_due_ns.setter
    def memory_due_ns(self, due_ns: int) -> None:
        self.record.memory_due_ns = due_ns

    @property
    def cpu_limit(self) -> tuple[int, int] | None:
        """RLIMIT_CPU in seconds, soft and hard; None if the kernel keeps the limit."""
        return self._cpu_limit

    @cpu_limit.setter
    def cpu_limit(self, limit: tuple[int, int] | None) -> None:
        self._cpu_limit = limit
        self.record.is_timed = self.is_timed

    @property
    def has_cpu_timers(self) -> bool:
        """Whether the process has made timers of CPU time."""
        return self._has_cpu_timers

    @has_cpu_timers.setter
    def has_cpu_timers(self, has_timers: bool) -> None:
        self._has_cpu_timers = has_timers
        self.record.is_timed = self.is_timed

    @property
    def is_timed(self) -> bool:
        """Whether the process has a timer or a limit of CPU time, which expires while the process computes."""
        return self._has_cpu_timers or self._cpu_limit is not None

    @property
    def host_name(self) -> str:
        """The name of the process's host."""
        return self.host.name

    def open_pidfd(self, global_pid: int) -> None:
        """Open the pidfd of the real process. Raises ProcessLookupError if the process is gone already."""
        self.global_pid = global_pid
        self.pidfd = os.pidfd_open(global_pid)

    def new_pending(self) -> list[int]:
        """Return the signals that have become pending for the process or its main thread since the last call, ascending."""
        pending = pending_mask(self.global_pid)
        fresh, self.seen_pending = pending & ~self.seen_pending, pending
        return [number for number in range(1, 65) if fresh >> (number - 1) & 1]

    def is_dying(self) -> bool:
        """Whether SIGKILL has reached the process. It may not have: the sender may lack the permission (kill(2), EPERM)."""
        status = self.status_fields()
        if not status or status.get("State", "Z")[0] in "ZX":
            return True
        return bool((int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)) >> (signal.SIGKILL - 1) & 1)

    def take_doomed(self) -> list[Process]:
        """Return the processes that this process has announced to kill, and clear the list."""
        taken, self.doomed = self.doomed, []
        return taken

    def group(self) -> int:
        """Return the process group in the host's PID namespace; -1 if the process is gone."""
        return number_at_level(self.status_fields().get("NSpgid", ""), self.host.level)

    def session(self) -> int:
        """Return the session in the host's PID namespace; -1 if the process is gone."""
        return number_at_level(self.status_fields().get("NSsid", ""), self.host.level)

    def is_within(self, reaper: Process) -> bool:
        """Whether the process is in the PID namespace whose process 1 is `reaper`, or in a namespace within it."""
        own = self.reaper
        while own is not None and own is not reaper:
            own = own.outside
        return own is reaper

    def status_fields(self) -> dict[str, str]:
        """Return /proc/PID/status as a dict; empty once the process is gone."""
        return status_fields(self.global_pid)


def number_at_level(numbers: str, level: int) -> int:
    """Pick a number from NSpid, NSpgid or NSsid of /proc/PID/status, which list one for each PID namespace; -1: none.

    The list begins with the reader's namespace. If it is too short, the last number is returned: a server in a unit test
    has no namespaces below its own.
    """
    fields = numbers.split()
    return int(fields[min(level, len(fields) - 1)]) if fields else -1


def status_fields(global_pid: int) -> dict[str, str]:
    """Return /proc/PID/status as a dict; empty if there is no such process."""
    return dict(line.split(":\t", 1) for line in _status(global_pid).splitlines() if ":\t" in line)


def pending_mask(global_pid: int) -> int:
    """Return the mask of the signals that are pending for a process or its main thread; 0 if there is no such process."""
    text = _status(global_pid)
    pending = 0
    for word in _PENDING:
        at = text.find(word)
        if at >= 0:
            pending |= int(text[at + len(word) : text.index("\n", at + 1)], 16)
    return pending


def _status(global_pid: int) -> str:
    """Return the text of /proc/PID/status; empty if there is no such process."""
    try:
        fd = os.open(f"/proc/{global_pid}/status", os.O_RDONLY | os.O_CLOEXEC)  # a file object costs twice as much
    except (FileNotFoundError, ProcessLookupError):
        return ""
    try:
        return os.read(fd, _STATUS_MAX).decode(errors="surrogateescape")
    except ProcessLookupError:
        return ""
    finally:
        os.close(fd)
