"""Find out by trial which isolation of hosts this user can have on this computer."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.factory.broker import FactoryError, HostLostError
from simunix.launch.factory.container import Container, ContainerSpec, Isolation, nearest_existing
from simunix.launch.factory.factory import HostFactory
from simunix.roots.tree import THIS_COMPUTER

OLDEST = (5, 19)
PROBES = 2
"""How often a trial is repeated if its processes have died."""


def _refusal(spec: ContainerSpec) -> SimunixError | None:
    """Return why a host cannot be made, as an error; None if it can. If processes of a trial die, something outside has
    probably killed them, so the trial is repeated.
    """
    refusal: SimunixError | None = None
    for _ in range(1 + PROBES):
        try:
            with contextlib.closing(HostFactory()) as factory:
                Container(spec, factory).close()
            return None
        except SimunixError as error:
            refusal = error
            if not isinstance(error, (FactoryError, HostLostError)):
                return error
    return refusal


def _too_old() -> str:
    """Return why the kernel is too old to contain hosts; "" if it is not. Linux got overlays over mounts with mapped
    owners later than such mounts themselves.
    """
    release = os.uname().release
    numbers = tuple(int(number) for number in re.findall(r"\d+", release)[:2])
    return "" if numbers >= OLDEST else f"Linux {release} lays no layers over files with mapped owners; 5.19 does"


def probe(owned: Iterable[Path] = ()) -> tuple[Isolation, str]:
    """Return the best isolation that this user can have on this computer, and what the run lacks by not having a better
    one ("" if nothing).

    `owned` are folders that root of a host must own if the caller does.
    """
    folders = tuple(dict.fromkeys(str(nearest_existing(str(path), THIS_COMPUTER)) for path in owned))
    spec = ContainerSpec("probe", Path("/nonexistent"), Isolation.USER_NAMESPACE, fresh_run=False, owned=folders)
    lost = ""
    if os.geteuid() == 0:
        uncontained = _too_old() or _refusal(replace(spec, isolation=Isolation.CONTAINED))
        if not uncontained:
            return Isolation.CONTAINED, ""
        spec, lost = replace(spec, isolation=Isolation.ROOT), f"root of a host is root of this computer ({uncontained})"
    refusal = _refusal(spec)
    if refusal is not None:
        return Isolation.NONE, (
            f"no namespaces ({refusal}): hosts share file system, pids and abstract sockets; private paths must be spelled in "
            "the configuration"
        )
    if spec.isolation is Isolation.USER_NAMESPACE:
        return spec.isolation, (
            "in a user namespace every user of a host is you: setgroups and changing user are not possible, and daemons that "
            "check who owns the system's folders are told not to"
        )
    return spec.isolation, lost
