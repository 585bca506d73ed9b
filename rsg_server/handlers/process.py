"""Births, new images, ends: HELLO, FORK, EXEC, EXIT."""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.diagnosis.traces import exited
from rsg_server.errors import SimunixError
from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.process.channel_pool import new_channel
from rsg_server.process.native_signal import is_of_interval
from rsg_server.process.orphans import enter_namespace
from rsg_server.processor.policies import FREE, MODELLED
from rsg_server.protocol import COST_ROW_SHIFT, FLAG_CALIBRATES, FLAG_CHARGED, FLAG_MODELLED, Fork, Hello, Op, Resume, Space

_IMAGE_CHARGE = struct.Struct("=5q")
"""struct simunix_image_charge of csrc/shared/cpu_protocol.h."""

if TYPE_CHECKING:
    from rsg_server.handlers.needs import ProcessKernel
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


def hello(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[kind, pid, tid, program]: the first message of an actor, or of a process after an exec."""
    asked, pid, tid, program = arguments
    reaper, kind = divmod(asked, Hello.REAPER)
    process = actor.process
    actor.tid = tid
    if kind == Hello.THREAD:
        return OK
    other = process.host.processes.get(pid)
    if other is not None and other is not process:
        raise ValueError(f"pid {pid} belongs to another process")
    _known(kernel, process, pid, reaper)
    if kind != Hello.NEW_IMAGE or process.images == 0:
        process.host.latest_pid = pid
    if kind == Hello.FORKED:
        return Reply((0, process.seed))
    if kind == Hello.LATE:
        return None
    process.program = str(program)
    process.host.programs.add(process.program)
    process.images += 1
    _new_image(kernel, actor)
    host = process.host
    flags = host.flags | (kernel.traces.flags(process) if kernel.traces is not None else 0)
    policy_flags, charging = _charging(kernel, actor)
    flags |= policy_flags
    seed, shape = kernel.lifecycle.seed_of_image(process), host.host
    soft, hard = process.nofile
    first = (actor.affinity & -actor.affinity).bit_length() - 1 if actor.affinity else 0
    values = (0, seed, soft, shape.cores, shape.memory_bytes, flags, host.name, host.files, actor.slot)
    fds = (kernel.shared.fd,) if process.started and process.images == 1 else ()  # all others have inherited it
    tracee = kernel.tracees.all.get(actor)
    traced: tuple[int, ...] = (1 | tracee.resume & Resume.SYSCALL,) if tracee is not None else ()
    last = (*(traced or (0,)), charging) if charging else traced
    reply = Reply((*values, hard, process.descriptor_floor, first, kernel.cgroups.told(process), *last), fds=fds, close=False)
    if kernel.debugger is not None and kernel.debugger.holds(actor, reply):
        return None
    return reply


def _known(kernel: ProcessKernel, process: Process, pid: int, reaper: int) -> None:
    """Note the number of a process, and its `reaper` in a PID namespace within its host's (0: none); watch for its end."""
    process.pid, process.is_traced = pid, False
    process.host.processes[pid] = process
    if reaper:
        enter_namespace(process, reaper)
    if process.pidfd >= 0 and process not in kernel.readiness:
        kernel.readiness.watch(process.pidfd, process)


def _charging(kernel: ProcessKernel, actor: Actor) -> tuple[int, bytes]:
    """What an image is told of its CPU policy: flags, and the end of HELLO's reply.

    The first charged image of a run measures what calls cost under simunix.
    """
    charges, process = kernel.charges, actor.process
    if charges is None:
        return 0, b""
    kernel.cpu_timers.begin_image(process)
    policy = charges.policy_of(process.program, process.cpu_policy, process.host.name)
    clock_ns = charges.take_clock_ns(actor.number)
    if policy == FREE:
        return 0, b""
    scale = charges.scale(process.host.host)
    told = _IMAGE_CHARGE.pack(clock_ns, charges.next_of(actor.number), scale, process.cpu_ns, actor.cpu_ns)
    row = charges.table.row(process.program, charges.has_prices(policy)) + 1 << COST_ROW_SHIFT
    if policy == MODELLED:
        return FLAG_MODELLED | row, told
    is_first, charges.has_calibrated = not charges.has_calibrated, True
    return FLAG_CHARGED | row | (FLAG_CALIBRATES if is_first else 0), told


def _new_image(kernel: ProcessKernel, actor: Actor) -> None:
    """End what an exec ends (execve(2)): the other threads of the process and its POSIX timers; a parent in vfork goes on."""
    process = actor.process
    for other in list(process.actors):
        if other is not actor:
            kernel.lifecycle.end_actor(other)
    if kernel.traces is not None:
        kernel.traces.forget(actor)
    for number in [number for number in process.timers if not is_of_interval(number)]:
        timer = process.timers.pop(number)
        if timer.event is not None:
            timer.event.cancel()
    kernel.channel_pool.close(process)
    kernel.futexes.wake_space(kernel, Space.LOCKS)  # descriptors that the exec has closed may have held some
    kernel.lifecycle.release_vfork(process)


def fork(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[kind] -> [number, slot, channel number, seed, 1 if traced] + the child's channel.

    SIBLING in the kind: a child of the caller's parent. Above EVENT: for a tracer, which event of ptrace(2) the birth is.

    After both kinds of VFORK the parent is silent until the child has exec'd or died.
    """
    event, kind = divmod(arguments[0], Fork.EVENT)
    kind = Fork(kind & ~Fork.SIBLING)
    if not kernel.cgroups.may_bear(actor, kind is Fork.THREAD):
        return failed(errno.EAGAIN)
    if kind is Fork.THREAD:
        return _thread(kernel, actor, event)
    ends = new_channel()  # before anything changes, since this may fail
    creator = actor.process
    parent = creator.parent if arguments[0] & Fork.SIBLING else creator
    process = kernel.lifecycle.new_process(creator.host, parent, creator.program)
    process.nofile, process.label, process.has_boxes = creator.nofile, creator.label, creator.has_boxes
    child, channel = kernel.lifecycle.new_actor(process, ends)
    child.inherit(actor)
    kernel.cgroups.born(actor, process)
    if kind is Fork.VFORK or kind is Fork.VFORK_IN_ORDER:
        process.vfork_parent = actor
        kernel.lifecycle.begin_vfork(actor, child, is_next=kind is Fork.VFORK)
    else:
        kernel.make_ready(child)
    newborn = child if kind is Fork.VFORK_IN_ORDER else None  # others may run before the child: it gets its pid before them
    traced = kernel.tracees.born(actor, child, event)
    values = (child.number, child.slot, child.channel_number, process.seed, *_seldom(kernel, child, traced))
    return Reply(values, fds=(channel,), newborn=newborn)


def _thread(kernel: ProcessKernel, creator: Actor, event: int) -> Reply:
    """Announce a thread, which takes a channel that an ended thread has left, if any, and sends no HELLO if it has a slot."""
    process = creator.process
    pooled = kernel.channel_pool.take(process)
    if pooled is None:
        child, channel = kernel.lifecycle.new_actor(process)
        fds: tuple[int, ...] = (channel,)
    else:
        child, fds = kernel.lifecycle.new_actor_at(process, pooled), ()
    child.inherit(creator)
    if child.slot:
        child.owes_message, child.answer_at_slot, child.is_new = False, True, True
    kernel.make_ready(child)
    seldom = _seldom(kernel, child, kernel.tracees.born(creator, child, event))
    return Reply((child.number, child.slot, child.channel_number, *((0, *seldom) if seldom else ())), fds=fds)  # no seed


def _seldom(kernel: ProcessKernel, child: Actor, is_traced: bool) -> tuple[int, ...]:
    """What a creator is told last of a child, if it matters: whether it is traced, and its first recorded charge."""
    next_charge = kernel.charges.next_of(child.number) if kernel.charges is not None else 0
    if next_charge:
        return (int(is_traced), next_charge)
    return (1,) if is_traced else ()


def fork_done(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[pid or -errno, number]: a failed fork takes back the announced child; a child sends HELLO before its parent goes on."""
    outcome, number = arguments
    child = kernel.actors.get(number)
    if child is None or not (child.owes_message or child.is_new) or not is_child(child, actor.process):
        return OK  # the child of a vfork, which has sent HELLO, or a child that was killed from outside
    if outcome < 0:
        _take_back(kernel, child, actor.process)
    elif child.process is not actor.process:
        child.process.pid = outcome
        kernel.turns.introduce(child)
    return OK


def is_child(actor: Actor, process: Process) -> bool:
    """Whether an unborn actor is a thread or a child of the process, or a child of its parent (clone(2), CLONE_PARENT)."""
    return actor.process is process or actor.process.parent in (process, process.parent)


def _take_back(kernel: ProcessKernel, unborn: Actor, process: Process) -> None:
    if unborn.process is process:
        kernel.lifecycle.end_actor(unborn)
    else:
        unborn.process.vfork_parent = None
        kernel.lifecycle.reap(unborn.process)


def execute(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[]: an exec is near; the message is there for HANDED_OFF, which comes before it and which no new image could send."""
    return OK


def inject(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[tid, descriptor]: the host's init traces the thread's next exec; -1: that exec has failed. -EPERM if it cannot."""
    tid, descriptor = arguments
    process = actor.process
    process.is_traced = descriptor >= 0
    if descriptor < 0:
        kernel.launcher.release(process.host.name, tid)
        return OK
    try:
        shim = kernel.launcher.inject(process.host.name, tid, descriptor)
    except SimunixError:
        process.is_traced = False
        return Reply((-errno.EPERM,))
    return Reply((0,), fds=(shim,), close=False)


def thread_exit(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[status, join word]: threads that join this one may go on; the shim of the next actor waits until the kernel is done."""
    status, word = arguments
    process = actor.process
    if len(process.actors) == 1:
        process.exit_status = status
        kernel.lifecycle.await_death(process)
        return
    if word:
        kernel.futexes.wake(kernel, kernel.futexes.key(actor, 0, word), 1 << 30, 0xFFFFFFFF)
    if kernel.traces is not None:
        kernel.traces.ended(actor, kernel.now_ns, exited(status))
    kernel.lifecycle.end_actor(actor, leaves_channel=True)


def process_exit(kernel: ProcessKernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[status]: no actor runs until the kernel has ended the process."""
    kernel.cgroups.count_memory(actor.process)
    if actor.process.dead:
        return
    actor.process.exit_status = arguments[0]
    kernel.lifecycle.await_death(actor.process)


HANDLERS: dict[int, Handler] = {
    int(Op.HELLO): Handler("iiis", hello),
    int(Op.FORK): Handler("i", fork, makes_descriptors=True),
    int(Op.FORK_DONE): Handler("ii", fork_done),
    int(Op.EXEC): Handler("", execute),
    int(Op.INJECT): Handler("ii", inject),
    int(Op.THREAD_EXIT): Handler("ii", thread_exit),
    int(Op.EXIT): Handler("i", process_exit),
}
