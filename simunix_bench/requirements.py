"""What benchmarks need on this computer, with a line of advice for everything that may be missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable

NAMESPACES = ("unshare", "--pid", "--mount", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc")
"""The command that runs real daemons in namespaces; the daemons end together with the first process in them, so that
nothing is left behind.
"""


def _lacks_programs(package: str, *programs: str) -> str:
    absent = [program for program in programs if shutil.which(program) is None]
    return f"{' and '.join(absent)} not installed: apt install {package}" if absent else ""


def _lacks_namespaces() -> str:
    if os.geteuid() != 0:
        return "real slurmds start jobs only as root"
    if shutil.which(NAMESPACES[0]) is None:
        return "unshare is not installed: apt install util-linux"
    done = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"no namespaces for real daemons: {done.stderr.strip()}"


NEEDS: dict[str, Callable[[], str]] = {
    "gcc": lambda: _lacks_programs("gcc libc6-dev", "gcc"),
    "slurm": lambda: _lacks_programs("slurm-wlm munge", "slurmctld", "slurmd", "munged", "sbatch"),
    "namespaces": _lacks_namespaces,
    "slurmdbd": lambda: _lacks_programs("slurmdbd mariadb-server", "slurmdbd", "mariadbd"),
    "mariadb": lambda: _lacks_programs("mariadb-server", "mariadb-install-db", "mariadbd"),
    "faketime": lambda: _lacks_programs("faketime", "faketime"),
}


def lacks(needs: Iterable[str]) -> str:
    """Return the first need that this computer does not meet, with advice; "" if it meets all."""
    return next((why for need in needs if (why := NEEDS[need]())), "")
