"""Describe the computer and the software of a measurement, for the JSON and for the line below the table."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import psutil

from simunix import __version__
from simunix.results.dependencies import cpu_model
from simunix.rjms.slurm.releases import version
from simunix.roots.tree import THIS_COMPUTER
from simunix_bench.context import CHECKOUT


def describe() -> dict[str, object]:
    """Return properties of the computer by name; None for those that cannot be found out.

    `load` is the load average over the minute before the measurement.
    """
    return {
        "cpu": cpu_model(Path("/proc/cpuinfo").read_text()),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": platform.release(),
        "system": THIS_COMPUTER.release(),
        "python": platform.python_version(),
        "slurm": version(THIS_COMPUTER),
        "simunix": __version__,
        "commit": commit(),
        "load": round(os.getloadavg()[0], 2),
    }


def commit() -> str | None:
    """Return the commit of this checkout, with `-dirty` if files differ from it; None outside of a checkout."""
    command = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty", "--abbrev=12"]
    if not (CHECKOUT / ".git").exists():
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def sentence(machine: dict[str, object]) -> str:
    """Return the description as a sentence for people."""
    gib = int(str(machine["memory_bytes"])) / (1 << 30)
    parts = [f"{machine['cores']} cores of {machine['cpu'] or 'an unknown processor'}", f"{gib:.0f} GiB"]
    parts += [f"Linux {machine['kernel']}", f"Python {machine['python']}"]
    parts += [f"Slurm {machine['slurm']}"] if machine["slurm"] else []
    parts.append(f"simunix {machine['simunix']}" + (f" ({machine['commit']})" if machine["commit"] else ""))
    return ", ".join(parts) + f"; load {machine['load']} before"
