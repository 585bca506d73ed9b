"""Programs with a planted bug each, and the scenarios in which an exploration is to find it: each has a mended twin.

Programs in C are mended by -DMENDED, all others by the variable MENDED of their environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CORPUS = Path(__file__).parent / "corpus"
SERVER = "10.9.0.1"
Command = list[str]


def _c(source: Path, folder: Path, mended: bool) -> Command:
    program = folder / (f"{source.stem}-mended" if mended else source.stem)
    mend = ["-DMENDED"] if mended else []
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-pthread", *mend, "-o", program, source], check=True)
    return [str(program)]


def _go(source: Path, folder: Path, mended: bool) -> Command:
    program = folder / source.stem
    subprocess.run(["go", "build", "-o", program, source], check=True, env={**os.environ, "GOTOOLCHAIN": "local"})
    return [str(program)]


def _script(source: Path, folder: Path, mended: bool) -> Command:
    copy = Path(shutil.copy(source, folder))
    return ["/usr/bin/python3" if source.suffix == ".py" else "/bin/sh", str(copy)]


COMMANDS: dict[str, Callable[[Path, Path, bool], Command]] = {".c": _c, ".go": _go, ".py": _script, ".sh": _script}


@dataclass(frozen=True)
class Planted:
    """A bug: its file in the corpus, what an exploration is to say, the words of its clients, and more keys of its scenario.

    Without `server` all processes are alike, each on a host of its own with its words. `restart` is that of the server.
    `seeds` are the budget in which the default strategies find the bug.
    """

    file: str
    says: str
    clients: tuple[tuple[str, ...], ...] = ()
    keys: dict[str, Any] = field(default_factory=dict)
    server: bool = True
    restart: str = "never"
    seeds: int = 300

    @property
    def name(self) -> str:
        """The file without its ending."""
        return Path(self.file).stem

    def scenario(self, folder: Path, mended: bool = False) -> Path:
        """Make the program, mended or not, and write its scenario into a folder."""
        source = CORPUS / self.file
        command = COMMANDS[source.suffix](source, folder, mended)
        if self.server:
            hosts = [{"name": "a", "address": SERVER}, *({"name": f"b{n}"} for n in range(len(self.clients)))]
            processes: list[dict[str, Any]] = [{"name": self.name, "host": "a", "command": command, "restart": self.restart}]
            words = [(SERVER, *words) for words in self.clients]
            names = [f"b{n}" for n in range(len(words))]
        else:
            words = list(self.clients)
            names = [f"n{n}" for n in range(1, 1 + len(words))]
            hosts, processes = [{"name": name} for name in names], []
        processes += [
            {"name": self.name, "host": name, "command": [*command, *each]} for name, each in zip(names, words, strict=True)
        ]
        if mended:
            processes = [{**process, "environment": {"MENDED": "1"}} for process in processes]
        path = folder / f"{self.name}{'-mended' if mended else ''}.yaml"
        keys = {"name": self.name, "epoch": "2000-01-01T00:00:00Z", "hosts": hosts, "processes": processes}
        path.write_text(yaml.safe_dump({**keys, **self.keys}))
        return path


def _fails(name: str, host: str = "a") -> str:
    return f"process: {name}: on {host}: {name} ended with exit code 1"


DEADLOCK = "deadlock: virtual time stopped"
NEMESIS = {"start": "1s", "every": "5s", "heal": "18s"}
ON_A_DISK: dict[str, Any] = {
    "storages": [{"name": "disk", "host": "a", "read_bandwidth": "50MBps", "write_bandwidth": "50MBps", "latency": "5ms"}],
    "mounts": [{"path": "/srv", "host": "a", "storage": "disk"}],
    "nemesis": {"hosts": "a", "faults": ["power"], "start": "1s", "every": "3s", "heal": "12s"},
}
"""A host whose power is cut, and which keeps /srv on a disk: what is not synced there may be lost."""
UNTIL_30 = {"stop": "time", "until": "30s"}
PLANTED = (
    Planted("lost_update.c", _fails("lost_update")),
    Planted("missed_wakeup.c", DEADLOCK),
    Planted("lock_order.c", DEADLOCK),
    Planted("two_daemons.c", _fails("two_daemons")),
    Planted("torn_file.c", _fails("torn_file")),
    Planted("short_read.c", _fails("short_read"), clients=((),)),
    Planted("reordered.c", _fails("reordered"), clients=((),)),
    Planted("early_broadcast.c", DEADLOCK),
    Planted("aba.c", _fails("aba")),
    Planted("signal_in_section.c", _fails("signal_in_section")),
    Planted("accept_race.c", DEADLOCK, clients=((),)),
    Planted("retried.c", _fails("retried"), clients=((),)),
    Planted(
        "lost_ack.c",
        DEADLOCK,
        clients=((),),
        keys={"nemesis": {"hosts": "b0", "faults": ["loss"], "start": "1s", "every": "3s", "heal": "9s"}},
    ),
    Planted(
        "stale_lease.c",
        "check: check-one-holder",
        clients=(("x",), ("y",)),
        keys={
            "check": [{"name": "one-holder", "never": "which is over"}],
            "nemesis": {"hosts": "b0,b1", "faults": ["partition", "slow"], **NEMESIS},
        },
    ),
    Planted("lock_file.sh", _fails("lock_file")),
    Planted("same_temporary.sh", _fails("same_temporary")),
    Planted("flock_order.sh", DEADLOCK),
    Planted("missing_fsync.py", _fails("missing_fsync"), keys=ON_A_DISK),
    Planted("renamed_early.c", _fails("renamed_early"), keys=ON_A_DISK),
    Planted("torn_record.c", _fails("torn_record"), keys=ON_A_DISK),
    Planted("new_name.sh", _fails("new_name"), keys=ON_A_DISK),
    Planted("commit_order.c", _fails("commit_order"), keys=ON_A_DISK),
    Planted("rewritten.sh", _fails("rewritten"), keys=ON_A_DISK),
    Planted("stale_pid.sh", _fails("stale_pid"), keys=ON_A_DISK),
    Planted(
        "clock_lease.py",
        _fails("clock_lease"),
        clients=(("x",), ("y",)),
        keys={"nemesis": {"hosts": "a", "faults": ["clock"], "start": "1s", "every": "5s", "heal": "20s"}},
    ),
    Planted(
        "two_files.py",
        "check: check-sum",
        restart="always",
        keys={
            "check": [{"name": "sum", "never": "are not"}],
            "nemesis": {"faults": ["kill"], "start": "1s", "every": "3s", "heal": "20s"},
            **UNTIL_30,
        },
    ),
    Planted(
        "split_brain.py",
        "check: check-once",
        clients=(("n1",), ("n2",), ("n3",)),
        server=False,
        keys={
            "check": [{"name": "once", "never": "have both given"}],
            "nemesis": {"faults": ["partition"], **NEMESIS},
        },
    ),
    Planted("half_closed.c", _fails("half_closed", "b0"), clients=((),)),
    Planted("goroutines.go", "process: goroutines: on a: goroutines ended with exit code 1"),
    Planted(
        "stopped_poller.c",
        _fails("stopped_poller"),
        clients=((),),
        keys={"nemesis": {"hosts": "a", "faults": ["stop"], "start": "1s", "every": "4s", "heal": "15s"}},
    ),
    Planted(
        "paused_holder.py",
        "check: check-one-holder",
        clients=(("x",), ("y",)),
        keys={
            "check": [{"name": "one-holder", "never": "writes under"}],
            "nemesis": {"hosts": "b0,b1", "faults": ["stop"], "start": "1s", "every": "4s", "heal": "20s"},
        },
    ),
)
