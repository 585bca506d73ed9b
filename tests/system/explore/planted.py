"""Programs with a planted bug each, and the scenarios in which an exploration is to find it: each has a mended twin."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CORPUS = Path(__file__).parent / "corpus"
SERVER = "10.9.0.1"


@dataclass(frozen=True)
class Planted:
    """A bug: its file in the corpus, what an exploration is to say, the words of its clients, and more keys of its scenario."""

    name: str
    says: str
    clients: tuple[tuple[str, ...], ...] = ()
    keys: dict[str, Any] = field(default_factory=dict)

    def scenario(self, folder: Path, mended: bool = False) -> Path:
        """Compile the program, mended or not, and write its scenario into a folder."""
        source = CORPUS / f"{self.name}.c"
        program = folder / (f"{self.name}-mended" if mended else self.name)
        mend = ["-DMENDED"] if mended else []
        subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-pthread", *mend, "-o", program, source], check=True)
        hosts = [{"name": "a", "address": SERVER}, *({"name": f"b{n}"} for n in range(len(self.clients)))]
        processes = [{"name": self.name, "host": "a", "command": [str(program)]}]
        processes += [
            {"name": self.name, "host": f"b{n}", "command": [str(program), SERVER, *words]}
            for n, words in enumerate(self.clients)
        ]
        path = folder / f"{program.name}.yaml"
        keys = {"name": self.name, "epoch": "2000-01-01T00:00:00Z", "hosts": hosts, "processes": processes}
        path.write_text(yaml.safe_dump({**keys, **self.keys}))
        return path


PLANTED = (
    Planted("lost_update", "process: lost_update: on a: lost_update ended with exit code 1"),
    Planted("missed_wakeup", "deadlock: virtual time stopped"),
    Planted("lock_order", "deadlock: virtual time stopped"),
    Planted("two_daemons", "process: two_daemons: on a: two_daemons ended with exit code 1"),
    Planted("reordered", "process: reordered: on a: reordered ended with exit code 1", clients=((),)),
    Planted("early_broadcast", "deadlock: virtual time stopped"),
    Planted(
        "stale_lease",
        "check: check-one-holder",
        clients=(("x",), ("y",)),
        keys={
            "check": [{"name": "one-holder", "never": "which is over"}],
            "nemesis": {"hosts": "b0,b1", "faults": ["partition", "slow"], "start": "1s", "every": "5s", "heal": "18s"},
        },
    ),
)
