"""Programs of type BPF_PROG_TYPE_CGROUP_DEVICE: reads, verifies and runs them. The instruction set is that of RFC 9669."""

from __future__ import annotations


class RefusedError(Exception):
    """The refusal, with an errno, of a program or of an action on one; Linux would (nearly always) refuse it, too."""

    def __init__(self, code: int, why: str = "") -> None:
        super().__init__(why)
        self.number = code
