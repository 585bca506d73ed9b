"""The supported RJMSs: those in this folder, and those that other installed packages register.

A new RJMS implements `rjms.adapter.Rjms`. An RJMS of simunix is a folder beside this file, and a row in the table
below. An RJMS of another package is an entry point of the group `simunix.rjms`, like a plugin of pytest
(docs/internals/adapter.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

from rsg_server.errors import SimunixError
from simunix.rjms.adapter import Rjms
from simunix.rjms.gridengine.adapter import GRIDENGINE
from simunix.rjms.htcondor.adapter import HTCONDOR
from simunix.rjms.oar.adapter import OAR
from simunix.rjms.slurm.adapter import SLURM
from simunix.scenario.model import Scenario

GROUP = "simunix.rjms"
OWN: Mapping[str, Rjms] = {rjms.name: rjms for rjms in (SLURM, GRIDENGINE, OAR, HTCONDOR)}


def registered(points: Iterable[EntryPoint]) -> dict[str, Rjms]:
    """Return the RJMSs of entry points by name. Raises SimunixError for an entry point that cannot be loaded, or whose
    name is taken.
    """
    found: dict[str, Rjms] = {}
    for point in sorted(points, key=lambda point: point.value):
        where = f"entry point {point.name} = {point.value} of the group {GROUP}"
        try:
            rjms: Rjms = point.load()
            name = rjms.name
        except Exception as error:  # whatever the module of another package raises
            raise SimunixError(f"{where}: {type(error).__name__}: {error}; mend or uninstall that package") from error
        if name in OWN or name in found or name in Scenario.model_fields or not name.isidentifier():
            raise SimunixError(f"{where}: {name!r} cannot be the key of its section in a scenario; give the RJMS another name")
        found[name] = rjms
    return found


RJMSS: Mapping[str, Rjms] = {**OWN, **registered(entry_points(group=GROUP))}
"""The RJMSs by the key of their section in a scenario."""
