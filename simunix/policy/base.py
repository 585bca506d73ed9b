"""The class that every policy derives from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from simunix.policy.actions import Action
from simunix.policy.records import State


class Policy(ABC):
    """A scheduling policy. Its options are the arguments of `__init__`, all with names.

    A policy may keep what it likes between decisions. It must not use random numbers without a seed, nor the clock: the
    time is `State.now`.
    """

    @abstractmethod
    def decide(self, state: State) -> Iterable[Action]:
        """Return what is to be done now. The RJMS is told in the order of the actions.

        `decide` is called when a job was submitted, has ended or was requeued, when a node has changed, and when a
        `Wake` is due.
        """
