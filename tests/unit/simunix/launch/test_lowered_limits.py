"""Hard limits that the caller may not raise are told, as hosts' programs see them."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest

from simunix.launch.limits import limits

SPAWN = Path(__file__).resolve().parents[4] / "csrc/hostinit/spawn.c"


@pytest.mark.parametrize(("may_raise", "expected"), [(False, {"stack": 1 << 26, "nproc": 4000}), (True, {})])
def test_what_is_lower_than_after_a_boot(monkeypatch: pytest.MonkeyPatch, may_raise: bool, expected: dict[str, int]) -> None:
    given = {resource.RLIMIT_STACK: 1 << 26, resource.RLIMIT_NPROC: 4000, resource.RLIMIT_MEMLOCK: 1 << 30}
    monkeypatch.setattr(limits, "_may_raise_limits", lambda: may_raise)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (0, given.get(which, resource.RLIM_INFINITY)))
    assert limits.lowered_limits() == expected


def test_the_table_is_that_of_the_hosts_first_process() -> None:
    rows = re.findall(r"\{RLIMIT_(\w+), \{.*?, (.*?)\}\}", SPAWN.read_text())
    values = {"RLIM_INFINITY": limits.UNLIMITED, "8 << 20": 8 << 20, "819200": 819200}
    boot = {name.lower(): values.get(text) for name, text in rows if name not in ("LOCKS", "RTTIME", "NICE", "RTPRIO")}
    assert boot == {name: value for name, (_, value) in limits.HARD.items()}
