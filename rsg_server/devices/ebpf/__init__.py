"""Reads, verifies and runs eBPF programs of the type BPF_PROG_TYPE_CGROUP_DEVICE. The instruction set is that of RFC 9669."""

from __future__ import annotations


class RefusedError(Exception):
    """Raised to refuse an eBPF program, or an action on one, with an errno. Linux refuses it as well, with rare exceptions."""

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(why)
        self.number = code
