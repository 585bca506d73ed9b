"""Lets power cuts lose file contents that were not synced to disk, in runs that choose what is lost (`simunix explore`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.choices.places import LOSE
from rsg_server.storage.survivors import Survivors
from rsg_server.storage.unsynced import Unsynced

if TYPE_CHECKING:
    from rsg_server.choices.source import Choices
    from rsg_server.faults.power import Power
    from rsg_server.storage.storages import Storages


def lose_unsynced(choices: Choices | None, storages: Storages, power: Power) -> None:
    """Let power cuts lose file contents that were not synced, as the choices of the run say. If the run makes no
    choices of the kind "lose", nothing is lost. The function must be called before the storages learn in which folders
    files are kept.
    """
    if choices is None or LOSE not in choices.places:
        return
    unsynced = storages.unsynced = Unsynced(lambda: choices.now_ns())
    power.on_unmount.connect(unsynced.unmounted)
    power.on_loss.connect(Survivors(choices, unsynced).power_cut)
