"""How long each host takes to boot, and which boots hang."""

from __future__ import annotations

import random
from collections.abc import Mapping

from rsg_server.platform.power import NO_BOOT, Boot


class Boots:
    """The boots of all hosts.

    Each host has a random generator of its own, from which each boot that may hang takes one number.
    """

    def __init__(self, boots: Mapping[str, Boot], seed: int) -> None:
        self._boots, self._seed = boots, seed
        self._will_hang: set[str] = set()  # hosts of which the next boot hangs
        self._chances: dict[str, random.Random] = {}

    def of(self, host: str) -> Boot:
        """Return how long a boot of a host takes, and how often such a boot hangs."""
        return self._boots.get(host, NO_BOOT)

    def let_hang(self, host: str) -> None:
        """Have the next boot of a host hang."""
        self._will_hang.add(host)

    def hangs(self, host: str) -> bool:
        """Return whether the boot of a host that begins now hangs."""
        failure = self.of(host).failure
        if failure and host not in self._chances:
            self._chances[host] = random.Random(f"boot {self._seed} {host}")
        hangs = bool(failure) and self._chances[host].random() < failure
        if host in self._will_hang:
            self._will_hang.discard(host)
            hangs = True
        return hangs
