"""Every way in which a platform file can be wrong is one line: file, line, what, how to mend it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.platform.errors import PlatformError
from rsg_server.platform.simgrid_xml import load_platform

ZONE = '<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="1GBps"/>\n'
LINK = '<link_ctn id="l"/>'
CLUSTER = '<cluster id="c" prefix="n" suffix="" radical="{radical}" speed="1Gf" bw="{bw}" lat="1us" {more}/>'


def route(source: str = "a", destination: str = "b", links: str = LINK, tag: str = "route", more: str = "") -> str:
    return f'<{tag} src="{source}" dst="{destination}" {more}>{links}</{tag}>'


def cluster(radical: str = "0-3", bw: str = "1GBps", more: str = "") -> str:
    return CLUSTER.format(radical=radical, bw=bw, more=more)


def disk(name: str = "d", read: str = "1MBps", write: str = "1MBps", prop: str = "", twice: bool = False) -> str:
    one = f'<disk id="{name}" read_bw="{read}" write_bw="{write}">{prop}</disk>'
    return f'<host id="h" speed="1Gf">{one * (2 if twice else 1)}</host>'


IN_ZONE = {
    "unknown host": (route("x"), "no host, router or zone 'x' above this line; known here: z, a, b"),
    "misspelt host": (route("a", "bb"), "no host, router or zone 'bb' above this line; did you mean 'b'?"),
    "unknown link": (route(links='<link_ctn id="k"/>'), "no link 'k' above this line"),
    "route twice": (route() + route("b", "a"), "a route from b to a is there already .*; remove one"),
    "empty route": (route(links=""), "a route without links; add a <link_ctn>"),
    "route with a zone": (route("a", "z"), "dst: 'z' is the outermost zone, not directly in z"),
    "zoneRoute of hosts": (route(tag="zoneRoute", more='gw_src="a" gw_dst="b"'), "src: 'a' is no zone; use <route>"),
    "bypass twice": (2 * route(tag="bypassRoute"), "a bypass from a to b is there already; remove one"),
    "zero bandwidth": ('<link id="k" bandwidth="0Bps"/>', "bandwidth: expected a bandwidth above 0 .*, got '0Bps'"),
    "negative bandwidth": ('<link id="k" bandwidth="-1MBps"/>', "bandwidth: expected a bandwidth above 0 .*, got '-1MBps'"),
    "infinite bandwidth": ('<link id="k" bandwidth="1e999Bps"/>', "which is too large"),
    "bad unit": ('<link id="k" bandwidth="10Gparsec"/>', "bandwidth: expected a bandwidth .*, got '10Gparsec'"),
    "negative latency": ('<link id="k" bandwidth="1Bps" latency="-1us"/>', "latency: expected a time not below 0"),
    "bad latency": ('<link id="k" bandwidth="1Bps" latency="soon"/>', "latency: expected a time .*, got 'soon'"),
    "bad policy": ('<link id="k" bandwidth="1Bps" sharing_policy="X"/>', "sharing_policy: expected one of SHARED, SPLIT"),
    "wifi link": ('<link id="k" bandwidth="1Bps" sharing_policy="WIFI"/>', "WIFI is not modelled; use SHARED"),
    "duplicate host": ('<host id="a" speed="1Gf"/>', "'a' is the name of something in line 3; choose another"),
    "duplicate link": ('<link id="l" bandwidth="1Bps"/>', "a link 'l' is in line 3 already; choose another name"),
    "router named as host": ('<router id="b"/>', "'b' is the name of something in line 3"),
    "no speed": ('<host id="h"/>', "attribute 'speed' is missing; add it"),
    "wrong power state": (
        '<host id="h" speed="1f" pstate="3"/>',
        "speed: power state 3 has no speed; give 4 speeds, or another pstate",
    ),
    "no cores": ('<host id="h" speed="1f" core="0"/>', "core: expected a whole number from 1, got '0'"),
    "bad coordinates": ('<host id="h" speed="1f" coordinates="1 2"/>', "expected three numbers 'x y height'"),
    "empty name": ('<host id="" speed="1f"/>', "empty name; give it one"),
    "unknown attribute": ('<host id="h" speed="1f" ram="1"/>', "unknown attribute 'ram'; known: id, speed"),
    "unknown tag": ("<computer/>", "<computer> cannot stand inside <zone>; see DTD 4.1"),
    "tag at the wrong place": ('<link_ctn id="l"/>', "<link_ctn> cannot stand inside <zone>; it belongs into .*route"),
    "removed tag": ('<storage id="s"/>', "<storage> is no longer part .*; use <disk>"),
    "disk of no bandwidth": (disk(read="0Bps"), r"<disk id=\"d\">: read_bw: expected a bandwidth above 0 .*, got '0Bps'"),
    "disk of negative bandwidth": (disk(write="-1MBps"), "write_bw: expected a bandwidth above 0 .*, got '-1MBps'"),
    "disk twice": (disk(twice=True), "this host has a disk 'd' in line 4 already; choose another name"),
    "disk without a name": (disk(name=""), "<disk>: empty name; give it one"),
    "disk of a bad size": (disk(prop='<prop id="size" value="much"/>'), "value: expected a size above 0 .*, got 'much'"),
    "disk of no size": (disk(prop='<prop id="size" value="0GB"/>'), "value: expected a size above 0 .*, got '0GB'"),
    "disk of a bad latency": (disk(prop='<prop id="latency" value="-1s"/>'), "value: expected a time not below 0"),
    "disk of a bad sum": (disk(prop='<prop id="readwrite_bw" value="0"/>'), "value: expected a bandwidth above 0"),
    "disk of a bad share": (disk(prop='<prop id="fair_per" value="user"/>'), "fair_per: expected operation or application"),
    "disk outside of a host": ('<disk id="d" read_bw="1" write_bw="1"/>', "cannot stand inside <zone>; it belongs into host"),
    "cyclic zone": ('<zone id="z" routing="Full"/>', "'z' is the name of something in line 3"),
    "unknown routing": ('<zone id="y" routing="Best"/>', "routing: expected one of Full, Floyd, .*; got 'Best'"),
    "wifi zone": ('<zone id="y" routing="Wifi"/>', "Wifi is not modelled"),
    "missing profile": ('<host id="h" speed="1f" state_file="no.txt"/>', "no.txt: No such file or directory; put the profile"),
    "endless profile": (
        '<host id="h" speed="1f" state_file="/dev/zero"/>',
        "/dev/zero: no ordinary file; put the profile there",
    ),
    "peer outside Vivaldi": ('<peer id="p" speed="1f" bw_in="1Bps" bw_out="1Bps"/>', "peers need a zone with routing Vivaldi"),
    "cabinet outside Cluster": (
        '<cabinet id="c" prefix="" suffix="" radical="1" speed="1f" bw="1Bps" lat="0"/>',
        'needs a zone with routing "Cluster"; z has Full',
    ),
    "unknown trace": ('<trace_connect trace="t" element="a"/>', "no trace 't' above this line"),
    "bad trace": ('<trace id="t" periodicity="1">0 x</trace>', "line 1: expected a number, got 'x'"),
    "stochastic trace": ('<trace id="t">STOCHASTIC\n0 1</trace>', "stochastic profiles are not deterministic"),
    "trace of nobody": ('<trace id="t">0 1</trace><trace_connect trace="t" element="x"/>', "no host 'x' above this line"),
    "bad radical": (cluster("3-1"), "radical: expected numbers and ranges such as '0-9,12', got '3-1'"),
    "far too many hosts": (cluster("0-99999999"), "more than 1,000,000 hosts; make the cluster smaller"),
    "zero bandwidth of a cluster": (cluster(bw="0Bps"), "bw: expected a bandwidth above 0"),
    "fat tree of another size": (
        cluster(more='topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"'),
        "topo_parameters '2;4,4;1,2;1,2' make 16 hosts, radical names 4; change one",
    ),
    "fat tree without shape": (cluster(more='topology="FAT_TREE"'), "expected 'levels;children"),
    "fat tree of wrong levels": (cluster(more='topology="FAT_TREE" topo_parameters="2;4;1;1"'), "as many numbers in each list"),
    "dragonfly without shape": (cluster(more='topology="DRAGONFLY" topo_parameters="1"'), "expected 'groups,cables"),
    "dragonfly of too many groups": (
        cluster(more='topology="DRAGONFLY" topo_parameters="4,1;1,1;1,1;1"'),
        "4 groups, but only 1 routers of a group can lead to others; add routers",
    ),
    "torus of zero": (cluster(more='topology="TORUS" topo_parameters="4,0"'), "expected the size of each dimension"),
    "split duplex without direction": (
        '<link id="d" bandwidth="1Bps" sharing_policy="SPLITDUPLEX"/>' + route(links='<link_ctn id="d"/>'),
        "link 'd' is split duplex; add direction=",
    ),
    "direction of a shared link": (route(links='<link_ctn id="l" direction="UP"/>'), "link 'l' has no directions"),
}


def refused(folder: Path, content: str) -> str:
    file = folder / "wrong.xml"
    file.write_bytes(content.encode())
    with pytest.raises(PlatformError) as caught:
        load_platform(file)
    text = str(caught.value)
    assert "\n" not in text
    assert re.match(rf"{re.escape(str(file))}(:\d+)?: ", text), text
    return text.removeprefix(f"{file}")


@pytest.mark.parametrize(("wrong", "message"), IN_ZONE.values(), ids=IN_ZONE)
def test_wrong_in_a_zone(tmp_path: Path, wrong: str, message: str) -> None:
    text = refused(tmp_path, f'<?xml version="1.0"?>\n<platform version="4.1">\n{ZONE}{wrong}</zone></platform>')
    assert re.search(message, text), text
    assert text.startswith((":4: ", ":5: "))


ENTITIES = """<!DOCTYPE platform [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<platform version="4.1"><zone id="&b;" routing="Full"/></platform>"""
WHOLE = {
    "empty file": ("", ":1: not well-formed XML: no element found"),
    "not XML": ("hosts: [a, b]", ":1: not well-formed XML: syntax error"),
    "cut off": ('<platform version="4.1">\n<zone id="z"', ":2: not well-formed XML: unclosed token"),
    "wrong nesting": ('<platform version="4.1">\n<zone>\n</platform>', ":3: not well-formed XML: mismatched tag"),
    "attribute twice": ('<platform version="4.1" version="4"/>', "duplicate attribute"),
    "another document": ("<html/>", "expected <platform version='4.1'>, got <html>"),
    "old version": ('<platform version="3"/>', "version: expected 4.1 or 4, got '3'; update it with SimGrid's"),
    "no zone": ('<platform version="4.1"/>', "no <zone> and no <cluster>; add one"),
    "no host": ('<platform version="4.1"><zone id="z" routing="Full"/></platform>', "no host; add a <host> or a <cluster>"),
    "two outermost zones": (
        '<platform version="4.1"><zone id="y" routing="Full"/><zone id="z" routing="Full"/></platform>',
        "a second outermost zone; put both into one <zone>",
    ),
    "entities": (ENTITIES, ":1: declarations inside <!DOCTYPE .* are refused; write what they stand for in full"),
    "external entity": (
        '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<platform version="4.1">&x;</platform>',
        "declarations inside <!DOCTYPE",
    ),
    "undefined entity": ('<platform version="4.1">&x;</platform>', ":1: not well-formed XML: undefined entity"),
    "endless zones": ('<platform version="4.1">' + '<zone id="z" routing="Full">' * 200, "nested more than 100 deep"),
    "unknown encoding": (
        '<?xml version="1.0" encoding="klingon"?><platform version="4.1"/>',
        "not readable XML: unknown encoding: klingon; save it as UTF-8",
    ),
}


@pytest.mark.parametrize(("content", "message"), WHOLE.values(), ids=WHOLE)
def test_wrong_as_a_whole(tmp_path: Path, content: str, message: str) -> None:
    text = refused(tmp_path, content)
    assert re.search(message, text), text


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=r"gone\.xml: No such file or directory; give a SimGrid platform file$"):
        load_platform(tmp_path / "gone.xml")


TWO_ZONES = """<platform version="4.1"><zone id="w" routing="Full">
<zone id="x" routing="Full"><host id="a" speed="1f"/></zone><zone id="y" routing="Full"><host id="b" speed="1f"/></zone>
<link id="l" bandwidth="1Bps"/>
<zoneRoute src="{src}" dst="{dst}" gw_src="{gw_src}" gw_dst="{gw_dst}"><link_ctn id="l"/></zoneRoute></zone></platform>"""


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (("x", "x", "a", "a"), "from a zone to itself"),
        (("x", "y", "b", "b"), "gw_src: 'b' is not inside zone x; name one of its hosts or routers"),
        (("x", "y", "a", "y"), "gw_dst: 'y' is a zone; name a host or router"),
        (("w", "y", "a", "b"), "src: 'w' is the outermost zone, not directly in w"),
        (("a", "y", "a", "b"), "src: 'a' is in zone x, not directly in w; write the route there"),
    ],
)
def test_wrong_gateways(tmp_path: Path, ends: tuple[str, ...], message: str) -> None:
    content = TWO_ZONES.format(**dict(zip(("src", "dst", "gw_src", "gw_dst"), ends, strict=True)))
    text = refused(tmp_path, content)
    assert text.startswith(":4: ") and message in text, text


PIECES = st.sampled_from(
    [
        "<zone",
        "</zone>",
        ' id="z"',
        ' routing="Full"',
        ">",
        "/>",
        "<host",
        ' speed="1f"',
        "<link",
        "&x;",
        "<!--",
        "-->",
        "\0",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=20))
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    file = tmp_path_factory.getbasetemp() / "any.xml"
    file.write_text('<platform version="4.1">' + "".join(pieces) + "</platform>")
    try:
        load_platform(file)
    except PlatformError as error:
        assert str(error).startswith(str(file)) and "\n" not in str(error)  # noqa: PT017


def test_a_device_is_not_read() -> None:
    with pytest.raises(PlatformError, match="/dev/zero: a device; give a SimGrid platform file"):
        load_platform("/dev/zero")
