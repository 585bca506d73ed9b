"""The control files that every cgroup has, whichever controllers it has: those named cgroup.*."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from rsg_server.cgroups import freezer
from rsg_server.cgroups.control_file import BELOW, EVERYWHERE, ControlFile, RefusedError, Request, decimal
from rsg_server.cgroups.group import NO_LIMIT, THREADED, Group
from rsg_server.cgroups.hierarchy import CONTROLLERS, owner_of

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.process.process import Process

ORDER = ("cpuset", "cpu", "io", "memory", "pids")
"""The order in which Linux lists controllers in cgroup.controllers and cgroup.subtree_control."""
PRESSURE = "".join(f"{which} avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" for which in ("some", "full"))


def listed(controllers: frozenset[str]) -> str:
    """Return the line of cgroup.controllers or cgroup.subtree_control that lists these controllers."""
    return " ".join(name for name in ORDER if name in controllers) + "\n"


def _type(hierarchy: Hierarchy, group: Group) -> str:
    if not group.is_valid_domain:
        return "domain invalid\n"
    return "domain threaded\n" if group.is_thread_root else "domain\n"


def _write_type(request: Request) -> None:
    """Refuse every write to cgroup.type, with Linux's errno: simunix has no groups of threads, so every cgroup is a domain."""
    raise RefusedError(errno.EOPNOTSUPP if request.word == "threaded" else errno.EINVAL)


def _events(hierarchy: Hierarchy, group: Group) -> str:
    return f"populated {group.populace > 0:d}\nfrozen {group.is_frozen:d}\n"


def _procs(hierarchy: Hierarchy, group: Group) -> str:
    return "".join(f"{process.pid}\n" for process in hierarchy.processes(group) if process.pid)


def _threads(hierarchy: Hierarchy, group: Group) -> str:
    return "".join(f"{actor.tid}\n" for process in hierarchy.processes(group) for actor in process.actors if actor.tid)


def _stat(hierarchy: Hierarchy, group: Group) -> str:
    return f"nr_descendants {sum(1 for _ in group.down()) - 1}\nnr_dying_descendants 0\n"


def check_destination(group: Group) -> None:
    """Raise RefusedError if no process may enter a cgroup: it is no valid domain, or it passes controllers on to children."""
    if not group.is_valid_domain:
        raise RefusedError(errno.EOPNOTSUPP)
    if group.passed and not group.can_be_thread_root:
        raise RefusedError(errno.EBUSY)


def check_writer(request: Request, source: Group) -> None:
    """Raise RefusedError if a writer may not move a process between two groups. Root always may.

    Others must be allowed to write to cgroup.procs of the nearest cgroup above both. A writer that has opened
    cgroup.procs of the destination may write to that file, since the kernel has checked this at open(2). See
    cgroups(7), delegation.
    """
    if request.user == 0:
        return
    above = set(source.up())
    common = next(group for group in request.group.up() if group in above)
    user, _ = request.hierarchy.real.owner(f"{common.path[1:]}/cgroup.procs")
    if user != owner_of(request.writer)[0]:
        raise RefusedError(errno.EACCES)


def _process(request: Request, is_thread: bool) -> Process:
    """Return the process whose pid was written to cgroup.procs; the pid 0 means the writer itself."""
    number = decimal(request.word)
    if number is None:
        raise RefusedError(errno.EINVAL)
    if number == 0:
        return request.writer
    processes = request.hierarchy.host.processes
    if not is_thread and number in processes and not processes[number].dead:
        return processes[number]
    for process in processes.values():
        if any(actor.tid == number for actor in process.actors):
            return process
    raise RefusedError(errno.ESRCH)


def _write_procs(request: Request) -> None:
    process = _process(request, is_thread=False)
    check_writer(request, request.hierarchy.group_of(process))
    check_destination(request.group)
    request.hierarchy.move(process, request.group)


def _write_threads(request: Request) -> None:
    """Handle a write to cgroup.threads: refuse to move a thread into another cgroup, because groups consist of whole
    processes.
    """
    source = request.hierarchy.group_of(_process(request, is_thread=True))
    check_writer(request, source)
    check_destination(request.group)
    if source is not request.group:
        raise RefusedError(errno.EOPNOTSUPP)


def _write_subtree(request: Request) -> None:
    """Handle a write to cgroup.subtree_control: words such as +memory and -cpu. Either all words take effect, or none does.

    The server then rewrites the real file, even if its text is the same. The shim reads that file to find out whether
    the words of a later write are all in effect already; such a write is not sent (csrc/shim/sys/cgroup/subtree.c).
    """
    group, wanted = request.group, {}
    for word in request.words:
        if word[:1] not in ("+", "-") or word[1:] not in request.hierarchy.root.controllers:
            raise RefusedError(errno.EINVAL)
        wanted[word[1:]] = word[0] == "+"
    enabled = frozenset(name for name, is_on in wanted.items() if is_on) - group.passed
    disabled = frozenset(name for name, is_on in wanted.items() if not is_on) & group.passed
    if not enabled <= group.controllers:
        raise RefusedError(errno.ENOENT)
    if any(child.passed & disabled for child in group.children.values()):
        raise RefusedError(errno.EBUSY)
    if enabled and not group.is_valid_domain:
        raise RefusedError(errno.EOPNOTSUPP)
    if enabled and group.parent is not None and group.processes and not (enabled <= THREADED and group.can_be_thread_root):
        raise RefusedError(errno.EBUSY)
    if enabled or disabled:
        request.hierarchy.pass_on(group, (group.passed | enabled) - disabled, owner_of(request.writer))
    request.hierarchy.tell(group, "cgroup.subtree_control")


def limit_file(name: str, where: frozenset[bool] = BELOW, controller: str = "") -> ControlFile:
    """Make a control file that contains a number or "max"; its initial text is "max"."""

    def read(hierarchy: Hierarchy, group: Group) -> str:
        number = group.number(name)
        return f"{'max' if number == NO_LIMIT else number}\n"

    def write(request: Request) -> None:
        number = NO_LIMIT if request.word == "max" else decimal(request.word)
        if number is None or number > 2**31 - 1:
            raise RefusedError(errno.EINVAL if number is None else errno.ERANGE)
        request.group.numbers[name] = number

    return ControlFile(name, controller, read, write, where)


def _nothing(request: Request) -> None:
    """Accept a write that has no effect."""


FILES = (
    ControlFile(CONTROLLERS, "", lambda hierarchy, group: listed(group.controllers), None, EVERYWHERE, is_kept=True),
    ControlFile("cgroup.subtree_control", "", lambda hierarchy, group: listed(group.passed), _write_subtree, EVERYWHERE),
    ControlFile("cgroup.procs", "", _procs, _write_procs, EVERYWHERE),
    ControlFile("cgroup.threads", "", _threads, _write_threads, EVERYWHERE),
    ControlFile("cgroup.type", "", _type, _write_type),
    ControlFile("cgroup.events", "", _events, tells=True),
    ControlFile("cgroup.freeze", "", freezer.read_freeze, freezer.write_freeze),
    ControlFile("cgroup.kill", "", None, freezer.write_kill),
    ControlFile("cgroup.stat", "", _stat, None, EVERYWHERE),
    limit_file("cgroup.max.depth", EVERYWHERE),
    limit_file("cgroup.max.descendants", EVERYWHERE),
    *(
        ControlFile(f"{name}.pressure", "", lambda hierarchy, group: PRESSURE, _nothing, EVERYWHERE)
        for name in ("cpu", "io", "memory")
    ),
)
