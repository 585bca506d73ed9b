"""SimGrid's DTD 4.1 as a table: for each tag its children, and its required and optional attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_IN_ZONE = """AS zone include link backbone cabinet cluster peer trace trace_connect host router host_link route zoneRoute
ASroute bypassRoute bypassASroute bypassZoneRoute storage_type storage"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True, slots=True)
class Tag:
    """The rule for a tag: `optional` contains default values of attributes, `choices` the values that an attribute may have."""

    children: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    optional: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_SYMMETRICAL = {"symmetrical": _words("YES NO yes no")}
_ROUTE = _words("src dst")
_ZONE_ROUTE = _words("src dst gw_src gw_dst")
_POLICIES = _words("SHARED SPLITDUPLEX FULLDUPLEX FATPIPE")
_ZONE = Tag(("prop", *_words(_IN_ZONE)), _words("id routing"))
_ACTOR = Tag(_words("argument prop"), _words("host function"), {"start_time": "-1.0", "kill_time": "-1.0", "on_failure": "DIE"})
_PARTS = _words("prefix suffix radical speed bw lat")

TAGS: Mapping[str, Tag] = {
    "platform": Tag(
        _words("config random include cluster cabinet peer AS zone trace trace_connect process actor"), ("version",)
    ),
    "config": Tag(("prop",), (), {"id": ""}),
    "zone": _ZONE,
    "AS": _ZONE,
    "host": Tag(
        _words("disk prop mount"),
        _words("id speed"),
        {"core": "1", "speed_file": "", "availability_file": "", "state_file": "", "coordinates": "", "pstate": "0"},
    ),
    "disk": Tag(("prop",), _words("read_bw write_bw"), {"id": "/"}),
    "host_link": Tag((), _words("id up down")),
    "cluster": Tag(
        ("prop",),
        ("id", *_PARTS),
        {
            "core": "1",
            "sharing_policy": "SPLITDUPLEX",
            "topology": "FLAT",
            "topo_parameters": "",
            "bb_bw": "",
            "bb_lat": "0s",
            "bb_sharing_policy": "SHARED",
            "router_id": "",
            "limiter_link": "",
            "loopback_bw": "",
            "loopback_lat": "",
        },
        {
            "sharing_policy": _POLICIES,
            "topology": _words("FLAT TORUS FAT_TREE DRAGONFLY"),
            "bb_sharing_policy": _words("SHARED FATPIPE"),
        },
    ),
    "cabinet": Tag((), ("id", *_PARTS)),
    "peer": Tag(
        (),
        _words("id speed bw_in bw_out"),
        {"lat": "0", "coordinates": "", "speed_file": "", "availability_file": "", "state_file": ""},
    ),
    "router": Tag((), ("id",), {"coordinates": ""}),
    "backbone": Tag((), _words("id bandwidth latency")),
    "link": Tag(
        ("prop",),
        _words("id bandwidth"),
        {"bandwidth_file": "", "latency": "0", "latency_file": "", "state_file": "", "sharing_policy": "SHARED"},
        {"sharing_policy": (*_POLICIES, "WIFI")},
    ),
    "route": Tag(("link_ctn",), _ROUTE, {"symmetrical": "YES"}, _SYMMETRICAL),
    "zoneRoute": Tag(("link_ctn",), _ZONE_ROUTE, {"symmetrical": "YES"}, _SYMMETRICAL),
    "ASroute": Tag(("link_ctn",), _ZONE_ROUTE, {"symmetrical": "YES"}, _SYMMETRICAL),
    "bypassRoute": Tag(("link_ctn",), _ROUTE),
    "bypassZoneRoute": Tag(("link_ctn",), _ZONE_ROUTE),
    "bypassASroute": Tag(("link_ctn",), _ZONE_ROUTE),
    "link_ctn": Tag((), ("id",), {"direction": "NONE"}, {"direction": _words("UP DOWN NONE")}),
    "trace": Tag((), ("id",), {"file": "", "periodicity": "-1"}),
    "trace_connect": Tag(
        (),
        _words("trace element"),
        {"kind": "HOST_AVAIL"},
        {"kind": _words("HOST_AVAIL SPEED LINK_AVAIL BANDWIDTH LATENCY")},
    ),
    "prop": Tag((), _words("id value")),
    "actor": _ACTOR,
    "process": _ACTOR,
    "argument": Tag((), ("value",)),
}
REMOVED = {
    "include": "put the content into this file",
    "storage": "use <disk> inside <host>",
    "storage_type": "use <disk> inside <host>",
    "mount": "use <disk> inside <host>",
    "random": "write the values out",
}
