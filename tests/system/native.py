"""The interface of the fixture `emulation` without emulation: hosts are loopback addresses of this computer, times are real."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from simunix.testing import Cluster, Program

LIMIT_S = 20.0


@dataclass(eq=False)
class NativeProcess:
    """A program on this computer; its outputs are files, so that nobody waits for a reader."""

    folder: Path
    argv: tuple[str, ...]
    daemon: bool
    popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(f"{self.folder}.out", "wb") as out, open(f"{self.folder}.err", "wb") as err:
            self.popen = subprocess.Popen(self.argv, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def send_signal(self, number: signal.Signals) -> None:
        assert self.popen is not None
        self.popen.send_signal(number)

    @property
    def stdout(self) -> str:
        return Path(f"{self.folder}.out").read_text()

    @property
    def stderr(self) -> str:
        return Path(f"{self.folder}.err").read_text()

    @property
    def exit_code(self) -> int | None:
        return None if self.popen is None else self.popen.returncode


@dataclass(eq=False)
class NativeHost:
    """A loopback address."""

    name: str
    address: str
    cluster: NativeCluster

    def start(self, program: Program, *words: object, at: float = 0, daemon: bool = False) -> NativeProcess:
        return self.cluster.add(program, words, at, daemon)


@dataclass(eq=False)
class NativeCluster:
    """Starts and kills the programs of a test at their times, for real."""

    emulation: Cluster  # compiles for us
    folder: Path
    processes: list[NativeProcess] = field(default_factory=list)
    actions: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    hosts: int = 0

    def __post_init__(self) -> None:
        self.c = self.emulation.c
        self.python = self.emulation.python

    def host(self, name: str) -> NativeHost:
        """127.X.Y.N, where X.Y is this worker's own: tests that run at the same time use the same ports."""
        self.hosts += 1
        number = os.getpid() % (250 * 250)
        return NativeHost(name, f"127.{1 + number // 250}.{1 + number % 250}.{self.hosts}", self)

    def add(self, program: Program, words: tuple[object, ...], at: float, daemon: bool) -> NativeProcess:
        folder = self.folder / f"process{len(self.processes)}"
        folder.mkdir()
        if program.file:
            (folder / program.file).write_bytes(program.content)
            (folder / program.file).chmod(0o755)
        process = NativeProcess(folder, (*program.argv(str(folder)), *map(str, words)), daemon)
        self.processes.append(process)
        self.actions.append((at, process.start))
        return process

    def at(self, moment: float, action: Callable[[], object], once: Callable[[], bool]) -> None:
        """Not before that moment, nor before `once` holds: a busy computer is late."""

        def act() -> None:
            end = time.monotonic() + LIMIT_S
            while not once():
                assert time.monotonic() < end, "it did not happen in time"
                time.sleep(0.02)
            action()

        self.actions.append((moment, act))

    def run(self, check: bool = False) -> None:
        start = time.monotonic()
        try:
            for at, action in sorted(self.actions, key=lambda entry: entry[0]):
                time.sleep(max(0.0, start + at - time.monotonic()))
                action()
            for process in self.processes:
                if process.popen is not None and not process.daemon:
                    process.popen.wait(LIMIT_S)
        finally:
            for process in self.processes:
                if process.popen is not None:
                    process.popen.kill()
                    process.popen.wait()
        for process in self.processes:
            assert not check or process.daemon or process.exit_code == 0, process.stderr
