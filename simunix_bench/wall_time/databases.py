"""Measure mariadb-install-db, which creates MariaDB's tables, natively and under simunix; the aim is that simunix does
not take longer.

A program that computes takes no virtual time, so the bound is the time of the same command natively on this computer.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from simunix_bench.context import SIMUNIX, Context, MeasurementError
from simunix_bench.row import Row, at_most

REPEATS = 3
INSTALL = (
    "mariadb-install-db",
    "--no-defaults",
    "--user=root",
    "--skip-test-db",
    "--auth-root-authentication-method=normal",
)


def databases(context: Context) -> Iterator[Row]:
    """Create the tables natively and under simunix, several times each, and yield rows with the least wall time of
    each.
    """
    native_s, inside_s = least_wall_s(context, ()), least_wall_s(context, (*SIMUNIX, "run", "--"))
    yield Row("database-native", "mariadb-install-db, natively", native_s, "s")
    yield Row("database-inside", "mariadb-install-db, under simunix", inside_s, "s")
    yield Row("database-ratio", "mariadb-install-db: wall, simunix ÷ natively", inside_s / native_s, "×", at_most(1))


def least_wall_s(context: Context, prefix: tuple[str, ...]) -> float:
    """Return the least wall time, in seconds, of several runs, each in a folder of its own."""
    found = []
    for number in range(1 if context.is_quick else REPEATS):
        folder = context.folder / f"tables-{len(prefix)}-{number}"
        done = context.run([*prefix, *INSTALL, f"--datadir={folder}"])
        if done.returncode != 0:
            raise MeasurementError(f"mariadb-install-db: {done.last_words}")
        shutil.rmtree(folder)
        found.append(done.wall_s)
    return min(found)
