"""The stall report of a real thread that computes, and one that waits in the kernel behind the shim's back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rsg_server.diagnosis.stalls import stall_report
from rsg_server.process.actor import Actor
from tests.unit.rsg_server.fakes import Fake, fake

COMPUTES = """
import threading
def compute():
    print(threading.get_native_id(), flush=True)
    while True: pass
threading.Thread(target=compute, daemon=True).start()
threading.Event().wait()
"""
READS = "import os, threading; print(threading.get_native_id(), flush=True); os.read(os.pipe()[0], 1)"


def report_of(world: Fake, actor: Actor) -> str:
    return stall_report(world.kernel.now_ns, world.kernel.cpu_timers, world.describer(), actor, 12.0)


@contextmanager
def actor_of(world: Fake, program: str) -> Iterator[Actor]:
    """An actor that stands for the thread of a native Python program which prints its number."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        actor = world.born()
        actor.tid = int(process.stdout.readline())
        actor.process.open_pidfd(process.pid)
        try:
            yield actor
        finally:
            process.kill()


def test_stall_of_a_thread_that_computes() -> None:
    with fake() as world, actor_of(world, COMPUTES) as actor:
        report = ""
        for _ in range(200):  # on a loaded computer it may be waiting for the other thread's lock just now
            report = report_of(world, actor)
            if "state: R (running)" in report and "call: none" in report:
                break
        first = report.splitlines()[0]
        assert first.startswith("the turn has not come back for 12 s of wall time: h0: fake[")
        assert f"thread {actor.tid} at 0.000000 s" in first
        assert "state: R (running)" in report
        assert "call: none" in report
        assert f"gdb -p {actor.process.global_pid}" in report


def test_stall_of_a_thread_that_waits_in_the_kernel() -> None:
    with fake() as world, actor_of(world, READS) as actor:
        report = ""
        for _ in range(10_000):  # it says its number a moment before it reads
            report = report_of(world, actor)
            if "call: read(0x3, " in report and "state: S " in report:
                break
        assert "state: S (sleeping)" in report
        assert "; descriptor 3 (pipe, written by fake[" in report


def test_a_users_gdb_is_told_where_the_program_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root's gdb may enter the mount namespace of a host."""
    with fake() as world, actor_of(world, READS) as actor:
        pid = actor.process.global_pid
        for user, told in ((0, ""), (1000, f" -iex 'set sysroot /proc/{pid}/root'")):
            monkeypatch.setattr("os.geteuid", lambda user=user: user)
            assert f"gdb -p {pid}{told} -batch" in report_of(world, actor)


def test_stall_of_a_thread_that_is_gone() -> None:
    with fake() as world, actor_of(world, READS) as actor:
        actor.process.global_pid = 2**31 - 1  # above every pid
        assert "state: gone" in report_of(world, actor)
