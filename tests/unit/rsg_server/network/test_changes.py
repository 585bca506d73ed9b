"""The changes that profiles make to links, in the order of time."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path

from rsg_server.network.changes import events, gates, link_changes, next_time
from rsg_server.platform.profile import Profile
from rsg_server.platform.simgrid_xml import load_platform

PLATFORM = """<?xml version='1.0'?>
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <link id="l" bandwidth="1GBps" latency="1ms"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
  <trace id="off">2 0
4 1</trace>
  <trace id="narrow">1 1000
2 2000</trace>
  <trace id="slow">0 0.5</trace>
  <trace_connect kind="HOST_AVAIL" trace="off" element="a"/>
  <trace_connect kind="BANDWIDTH" trace="narrow" element="l"/>
  <trace_connect kind="SPEED" trace="slow" element="b"/>
</platform>
"""


def test_a_profile_may_start_over_for_ever() -> None:
    assert list(events(Profile("once", ((1.0, 5.0), (2.0, 6.0))))) == [(1.0, 5.0), (2.0, 6.0)]
    again = events(Profile("again", ((1.0, 5.0), (2.0, 6.0)), repeat_after_s=3.0))
    assert list(islice(again, 4)) == [(1.0, 5.0), (2.0, 6.0), (6.0, 5.0), (7.0, 6.0)]
    assert list(events(Profile("empty", (), repeat_after_s=1.0))) == []


def test_changes_of_links_and_hosts_are_merged_in_the_order_of_time(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(PLATFORM)
    platform = load_platform(tmp_path / "p.xml")
    found = [(change.time_s, change.link.name, change.what, change.value) for change in link_changes(platform)]
    assert found == [
        (1.0, "l", "bandwidth", 1000.0),
        (2.0, "host a", "state", 0.0),
        (2.0, "l", "bandwidth", 2000.0),
        (4.0, "host a", "state", 1.0),
    ]
    assert list(gates(platform)) == ["a"]
    assert gates(platform)["a"].bandwidth_bytes_per_s == math.inf


def test_no_change_is_never_due() -> None:
    assert next_time(None) == math.inf
