"""Programs of type BPF_PROG_TYPE_CGROUP_DEVICE: read, verified, and run. The instruction set is that of RFC 9669."""

from __future__ import annotations


class RefusedError(Exception):
    """A program, or what is to be done with one, that Linux would refuse as well (or nearly so), with an errno."""

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(why)
        self.number = code
