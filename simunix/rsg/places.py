"""Hosts and links of the platform, for actors of Remote SimGrid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number, real
from simunix.rsg.disks import Disk, disks_of
from simunix.rsg.errors import AssertionError

LINKS_TOLD = 432
TEXT_BYTES = 3584


class _Place(ABC):
    """A host or a link. Two objects with equal numbers are the same host or link."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)

    @abstractmethod
    def _state(self) -> Any: ...

    @property
    def name(self) -> str:
        """The name of the host or link in the platform."""
        raw: bytes = ffi.string(self._state().name)
        return raw.decode()

    def is_on(self) -> bool:
        """Return whether the host is on, or the link is up."""
        return bool(self._state().is_on)


def _numbers(of_place: Callable[..., int]) -> Iterator[int]:
    """Yield the numbers of all hosts or all links."""
    for place in count():
        try:
            yield number(of_place, place)
        except AssertionError:
            return


class Host(_Place):
    """A host, identified by its number in the platform."""

    @staticmethod
    def by_name(name: str) -> Host:
        """Return the host with a name."""
        return Host(number(lib.rsg_host, name.encode(), about=f"host {name}"))

    @staticmethod
    def current() -> Host:
        """Return the host of the calling actor."""
        return Host(number(lib.rsg_host_at, -1))

    @staticmethod
    def all() -> list[Host]:
        """Return all hosts of the platform."""
        return [Host(found) for found in _numbers(lib.rsg_host_at)]

    def _state(self) -> Any:
        state = ffi.new("struct rsg_host_state *")
        call(lib.rsg_host_state, self.number, state)
        return state

    @property
    def speed(self) -> float:
        """The present speed of a core, in flop/s."""
        return float(self._state().speed)

    @property
    def available_speed(self) -> float:
        """The part of the speed that the host's profile leaves, from 0 to 1."""
        return float(self._state().available)

    @property
    def core_count(self) -> int:
        """The number of cores."""
        return int(self._state().cores)

    @property
    def load(self) -> float:
        """The flop/s that are in use."""
        return float(self._state().load)

    @property
    def pstate(self) -> int:
        """The index of the present power state, which determines the speed."""
        return int(self._state().pstate)

    @pstate.setter
    def pstate(self, pstate: int) -> None:
        call(lib.rsg_host_set_pstate, self.number, pstate)

    @property
    def pstate_count(self) -> int:
        """The number of power states."""
        return int(self._state().pstates)

    def pstate_speed(self, pstate: int) -> float:
        """Return the speed of a core in a power state, in flop/s."""
        return real(lib.rsg_host_speed, self.number, pstate)

    def turn_on(self) -> None:
        """Switch the host on."""
        call(lib.rsg_host_turn, self.number, 1)

    def turn_off(self) -> None:
        """Switch the host off, which ends its actors."""
        call(lib.rsg_host_turn, self.number, 0)

    def property(self, key: str) -> str:
        """Return the host's property of a name in the platform file; "" if the host does not have it."""
        value = ffi.new(f"char[{TEXT_BYTES}]")
        call(lib.rsg_host_property, self.number, key.encode(), value, TEXT_BYTES)
        raw: bytes = ffi.string(value)
        return raw.decode()

    def get_disks(self) -> list[Disk]:
        """Return the host's disks, in the platform's order."""
        return disks_of(self.number)

    def route_to(self, other: Host) -> tuple[list[Link], float]:
        """Return the links to another host, and their total latency in seconds."""
        latency, found, links = ffi.new("double *"), ffi.new("size_t *"), ffi.new(f"int64_t[{LINKS_TOLD}]")
        call(lib.rsg_route, self.number, other.number, latency, links, LINKS_TOLD, found)
        return [Link(int(links[place])) for place in range(int(found[0]))], float(latency[0])


class Link(_Place):
    """A link, identified by its number in the platform."""

    @staticmethod
    def by_name(name: str) -> Link:
        """Return the link with a name."""
        return Link(number(lib.rsg_link, name.encode(), about=f"link {name}"))

    @staticmethod
    def all() -> list[Link]:
        """Return all links of the platform."""
        return [Link(found) for found in _numbers(lib.rsg_link_at)]

    def _state(self) -> Any:
        state = ffi.new("struct rsg_link_state *")
        call(lib.rsg_link_state, self.number, state)
        return state

    @property
    def bandwidth(self) -> float:
        """The bandwidth in bytes per second."""
        return float(self._state().bandwidth)

    @property
    def latency(self) -> float:
        """The latency in seconds."""
        return float(self._state().latency)

    def turn_on(self) -> None:
        """Switch the link on."""
        call(lib.rsg_link_turn, self.number, 1)

    def turn_off(self) -> None:
        """Switch the link off; communications over it fail."""
        call(lib.rsg_link_turn, self.number, 0)

    def set_bandwidth(self, bandwidth: float) -> None:
        """Change the bandwidth, in bytes per second."""
        about = f"link {self.name}: bandwidth {bandwidth}"
        if bandwidth < 0:
            raise AssertionError(lib.RSG_NEGATIVE, about)
        call(lib.rsg_link_set, self.number, bandwidth, -1.0, about=about)

    def set_latency(self, latency: float) -> None:
        """Change the latency, in seconds."""
        about = f"link {self.name}: latency {latency}"
        if latency < 0:
            raise AssertionError(lib.RSG_NEGATIVE, about)
        call(lib.rsg_link_set, self.number, -1.0, latency, about=about)
