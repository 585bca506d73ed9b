"""A request on a netlink socket of any protocol, and the error that refuses a request (netlink(7))."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_DUMP = 0x300


class RefusedError(Exception):
    """Raised to answer a request with an errno."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Request:
    """One message that an application has written to a netlink socket."""

    kind: int
    flags: int
    sequence: int
    body: bytes

    @property
    def is_dump(self) -> bool:
        """Whether the request asks for all objects of its kind (NLM_F_DUMP)."""
        return bool(self.flags & _DUMP)

    @property
    def family(self) -> int:
        """The address family that the request is about; 0 for any."""
        return self.body[0] if self.body else 0

    def number(self, at: int) -> int:
        """Return a 32-bit field of the body; 0 if the body is shorter, as for `struct rtgenmsg`."""
        return int(struct.unpack_from("=i", self.body, at)[0]) if len(self.body) >= at + 4 else 0
