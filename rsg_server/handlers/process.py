"""Births, new images, ends: HELLO, FORK, EXEC, EXIT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.diagnosis.traces import exited
from rsg_server.handlers.table import OK, Handler, Reply
from rsg_server.process.channel_pool import new_channel
from rsg_server.protocol import Fork, Hello, Op, Space

if TYPE_CHECKING:
    from rsg_server.handlers.needs import Kernel
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


def hello(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[kind, pid, tid, program]: an actor's first message, or a process's after an exec."""
    kind, pid, tid, program = arguments
    process = actor.process
    actor.tid = tid
    if kind == Hello.THREAD:
        return OK
    other = process.host.processes.get(pid)
    if other is not None and other is not process:
        raise ValueError(f"pid {pid} is another process's")
    process.pid, process.execs = pid, False
    process.host.processes[process.pid] = process
    if kind == Hello.FORKED or process.images == 0:
        process.host.latest_pid = pid
    if process.pidfd >= 0 and process not in kernel.readiness:
        kernel.readiness.watch(process.pidfd, process)
    if kind == Hello.FORKED:
        return Reply((0, process.seed))
    process.program = str(program)
    process.images += 1
    _new_image(kernel, actor)
    host = process.host
    flags = host.flags | (kernel.traces.flags(process) if kernel.traces is not None else 0)
    seed, shape = kernel.lifecycle.seed_of_image(process), host.host
    values = (0, seed, process.nofile[0], shape.cores, shape.memory_bytes, flags, host.name, host.files, actor.slot)
    reply = Reply(values, fds=(kernel.page.fd,), close=False)
    if kernel.debugger is not None and kernel.debugger.holds(actor, reply):
        return None
    return reply


def _new_image(kernel: Kernel, actor: Actor) -> None:
    """An exec has ended the process's other threads and its POSIX timers; a vfork parent goes on."""
    process = actor.process
    for other in list(process.actors):
        if other is not actor:
            kernel.lifecycle.end_actor(other)
    if kernel.traces is not None:
        kernel.traces.forget(actor)
    for number in [number for number in process.timers if number != 0]:
        timer = process.timers.pop(number)
        if timer.event is not None:
            timer.event.cancel()
    kernel.channel_pool.close(process)
    kernel.futexes.wake_space(kernel, Space.LOCKS)  # descriptors that the exec has closed may have held some
    kernel.lifecycle.release_vfork(process)


def fork(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[kind] -> [number, slot, channel number] + the child's channel.

    After a VFORK the parent is silent until the child has exec'd or died.
    """
    kind = Fork(arguments[0])
    if kind is Fork.THREAD:
        return _thread(kernel, actor.process)
    ends = new_channel()  # first, since it may fail
    process = kernel.lifecycle.new_process(actor.process.host, actor.process, actor.process.program)
    child, channel = kernel.lifecycle.new_actor(process, ends)
    if kind is Fork.VFORK:
        process.vfork_parent = actor
        kernel.lifecycle.begin_vfork(actor, child)
    else:
        kernel.make_ready(child)
    return Reply((child.number, child.slot, child.channel_number), fds=(channel,))


def _thread(kernel: Kernel, process: Process) -> Reply:
    """It need not say who it is, unless it has no slot to wait at; nor has it a channel of its own if another has left one."""
    pooled = kernel.channel_pool.take(process)
    if pooled is None:
        child, channel = kernel.lifecycle.new_actor(process)
        fds: tuple[int, ...] = (channel,)
    else:
        child, fds = kernel.lifecycle.new_actor_at(process, pooled), ()
    if child.slot:
        child.owes_message, child.answer_at_slot, child.is_new = False, True, True
    kernel.make_ready(child)
    return Reply((child.number, child.slot, child.channel_number), fds=fds)


def fork_done(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[pid or -errno, number]: a failed fork takes back the announced child; a forked one speaks before its parent goes on."""
    outcome, number = arguments
    child = kernel.actors.get(number)
    if child is None or not (child.owes_message or child.is_new) or not is_child(child, actor.process):
        return OK  # of a vfork, or killed from outside
    if outcome < 0:
        _take_back(kernel, child, actor.process)
    elif child.process is not actor.process:
        child.process.pid = outcome
        kernel.on_birth(child)
    return OK


def is_child(actor: Actor, process: Process) -> bool:
    """Whether an unborn actor is a thread or a child of the process."""
    return actor.process is process or actor.process.parent is process


def _take_back(kernel: Kernel, unborn: Actor, process: Process) -> None:
    if unborn.process is process:
        kernel.lifecycle.end_actor(unborn)
    else:
        unborn.process.vfork_parent = None
        kernel.lifecycle.reap(unborn.process)


def execute(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[path]; the next message comes from the new image (HELLO) or is EXEC_FAILED."""
    actor.process.execs = True
    return OK


def exec_failed(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[errno]"""
    actor.process.execs = False
    return OK


def thread_exit(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[status, join word]: joiners may go on (the shim of whoever runs next waits for the kernel's thread to be gone)."""
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


def process_exit(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[status]: nothing else runs until the kernel has really ended the process."""
    actor.process.exit_status = arguments[0]
    kernel.lifecycle.await_death(actor.process)


HANDLERS: dict[int, Handler] = {
    int(Op.HELLO): Handler("iiis", hello),
    int(Op.FORK): Handler("i", fork, makes_descriptors=True),
    int(Op.FORK_DONE): Handler("ii", fork_done),
    int(Op.EXEC): Handler("s", execute),
    int(Op.EXEC_FAILED): Handler("i", exec_failed),
    int(Op.THREAD_EXIT): Handler("ii", thread_exit),
    int(Op.EXIT): Handler("i", process_exit),
}
