"""Old or wrong platform files that SimGrid 3.32 loads are loaded as well, with a warning that names file and line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from rsg_server.platform.errors import PlatformError
from rsg_server.platform.simgrid_xml import load_platform

SYSTEM_PYTHON = "/usr/bin/python3"
SHIPPED = Path(__file__).parent / "simgrid_platforms"
ASK = """
import json, os, sys, simgrid
for path in sys.argv[1:]:
    sys.stdout.flush()
    reader, writer = os.pipe()
    if os.fork() == 0:
        engine = simgrid.Engine(["ask"])
        try:
            engine.load_platform(path)
        except BaseException:
            os._exit(1)
        links = {link.name: (link.bandwidth, link.latency) for link in engine.all_links}
        with os.fdopen(writer, "w") as out:
            json.dump([{host.name: host.speed for host in engine.all_hosts}, links], out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    print("\\n" + (text if os.wait()[1] == 0 else "null"))
"""
HEAD = '<?xml version="1.0"?>\n'
DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
ZONE = """<zone id="z" routing="Full">
<host id="a" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1us"/>
{}</zone></platform>
"""
CLUSTER = """<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-2" speed="0f" bw="1GBps" lat="1us"/>
</platform>
"""
BODY = '<platform version="4.1">\n' + ZONE


def file_of(inside: str = "", head: str = HEAD + DOCTYPE, version: str = "4.1") -> str:
    return head + BODY.replace("4.1", version).format(inside)


CASES: dict[str, tuple[str, str]] = {
    "blank line before the declaration": (file_of(head="\n" + HEAD + DOCTYPE), ":1: blanks or comments before <?xml"),
    "blanks before the declaration": (file_of(head="  " + HEAD + DOCTYPE), ":1: blanks or comments before <?xml"),
    "comment before the declaration": (
        file_of(head="<!-- by\nhand -->\n<!-- twice -->" + HEAD + DOCTYPE),
        ":1: blanks or comments before <?xml",
    ),
    "speed 0": (file_of('<host id="h" speed="0Gf"/>'), ':7: <host id="h">: speed 0: nothing can compute there'),
    "first speed 0": (file_of('<host id="h" speed="0f,1f"/>'), ':7: <host id="h">: speed 0: nothing can compute there'),
    "cluster of speed 0": (f"{HEAD}{DOCTYPE}{CLUSTER}", ':3: <cluster id="c">: speed 0: nothing can compute there'),
    "wrong count of watts": (
        file_of('<host id="h" speed="1Gf,2Gf"><prop id="wattage_per_state" value="1:2:3"/></host>'),
        ':7: <host id="h">: wattage_per_state: expected watts for each power state, got 1 for 2',
    ),
    "wrong count of watts under the old name": (
        file_of('<host id="h" speed="1Gf"><prop id="watt_per_state" value="1:2:3,4:5:6"/></host>'),
        ':7: <host id="h">: wattage_per_state: expected watts for each power state, got 2 for 1',
    ),
    "DTD 4": (file_of(version="4"), ":3: <platform>: version: a file of DTD 4, read as one of 4.1"),
    "DTD 4.0": (file_of(version="4.00"), ":3: <platform>: version: a file of DTD 4, read as one of 4.1"),
    "old attribute": (
        file_of('<host id="h" speed="1Gf" availability_file="p.txt"/>'),
        ':7: <host id="h">: availability_file is the old name of speed_file',
    ),
    "old policy": (
        file_of('<link id="k" bandwidth="1GBps" latency="1us" sharing_policy="FULLDUPLEX"/>'),
        ':7: <link id="k">: sharing_policy: FULLDUPLEX is the old name',
    ),
    "no unit": (
        file_of('<link id="k" bandwidth="1000" latency="1us"/>'),
        ':7: <link id="k">: bandwidth: a number without a unit',
    ),
    "cores with a fraction": (file_of('<host id="h" speed="1Gf" core="4.0"/>'), ":7: <host id=\"h\">: core: '4.0' counts as 4"),
    "disk without a name": (file_of('<host id="h" speed="1Gf"><disk read_bw="1MBps" write_bw="1MBps"/></host>'), ""),
    "DTD 4.10": (file_of(version="4.10"), ""),
}


def placed(folder: Path, content: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "p.txt").write_text("0 1.0\n")
    path = folder / "p.xml"
    path.write_text(content)
    return path


@pytest.mark.parametrize("name", CASES)
def test_it_is_loaded_and_said(name: str, tmp_path: Path) -> None:
    content, expected = CASES[name]
    path = placed(tmp_path, content)
    warnings = load_platform(path).description.warnings
    assert [text.startswith(f"{path}{expected}") for text in warnings] == [True] * bool(expected), warnings


# Beside SimGrid itself


Read = tuple[dict[str, float], dict[str, tuple[float, float]]]
"""The speeds of hosts, and bandwidths and latencies of links, by name."""


def by_simgrid(folder: Path, paths: Sequence[Path]) -> list[Read | None]:
    """What SimGrid reads in each file; None of a file that it refuses."""
    asked = subprocess.run(
        [SYSTEM_PYTHON, "-c", ASK, *map(str, paths)], capture_output=True, text=True, check=True, cwd=folder, timeout=100
    )
    answers = [json.loads(line) for line in asked.stdout.splitlines() if line.startswith(("null", "[{"))]
    assert len(answers) == len(paths)
    return [answer and (answer[0], {name: tuple(values) for name, values in answer[1].items()}) for answer in answers]


def by_us(path: Path) -> Read | str:
    """What we read, or the line of the refusal."""
    try:
        platform = load_platform(path, simgrid_compat=True)
    except PlatformError as error:
        return str(error)
    links = {link.name: (link.bandwidth_bytes_per_s, link.latency_s) for link in platform.links.values()}
    return {host.name: host.speed_flops for host in platform.hosts}, links


needs_simgrid = pytest.mark.skipif(
    subprocess.run([SYSTEM_PYTHON, "-c", "import simgrid"], capture_output=True, check=False).returncode != 0,
    reason="SimGrid's Python module is not installed (Debian: python3-simgrid)",
)


def check_alike(simgrid: Read, ours: Read) -> None:
    assert ours[0] == simgrid[0]
    for name in ours[1].keys() & simgrid[1].keys():
        assert ours[1][name] == pytest.approx(simgrid[1][name], rel=1e-9), name


@needs_simgrid
def test_simgrid_loads_each_case_alike(tmp_path: Path) -> None:
    paths = [placed(tmp_path / str(number), content) for number, (content, _) in enumerate(CASES.values())]
    for name, path, simgrid in zip(CASES, paths, by_simgrid(tmp_path, paths), strict=True):
        ours = by_us(path)
        assert simgrid is not None and not isinstance(ours, str), name
        check_alike(simgrid, ours)


# Mutated files


NUMBERS = ("0", "0f", "-1", "1", "1.5", "4.0", "0x10", "inf", "nan", "1e400", "1GBps", "1Gf", "1Gf,2Gf", "0f,1f", "5us", "abc")
VALUES = (
    *NUMBERS,
    "4",
    "4.05",
    "3",
    "YES",
    "1kf",
    "1MiBps",
    "0Bps",
    "1s",
    "0-3",
    "3-1",
    "FATPIPE",
    "FULLDUPLEX",
    "Full",
    "none",
    "1,2,3",
    "9:9:9",
    "10:5:1",
)
ADDED = ('availability_file=""', 'core="2"', 'pstate="0.0"', 'pstate="1"', 'sharing_policy="FULLDUPLEX"', 'latency="0"')
BEFORE = ("\n", "  ", "<!-- c -->", "<!-- c -->\n\n")
VALUE, TAG = re.compile(r"""=("[^"]*"|'[^']*')"""), re.compile(r"<(host|link|cluster)\b")
NEVER_READ = re.compile(
    r"expected|not modelled|not well-formed|is missing; add it|empty name|no host|stands outside|could not convert|make .*hosts"
)
"""Refusals of what SimGrid reads: numbers that are none, links that carry nothing, Wifi, a name that is empty, broken XML."""


def mutated(text: str, random: Random) -> str:
    """A platform file with one or two changes."""
    for _ in range(random.randint(1, 2)):
        kind = random.randrange(4)
        at = random.choice(list((TAG if kind == 1 else VALUE).finditer(text)) or [None])
        if at is None:
            continue
        if kind == 0:
            text = random.choice(BEFORE) + text
        elif kind == 1:
            text = f"{text[: at.end()]} {random.choice(ADDED)}{text[at.end() :]}"
        else:
            text = f'{text[: at.start()]}="{random.choice(VALUES)}"{text[at.end() :]}'
    return text


def mutants(folder: Path, number: int, seed: int) -> list[Path]:
    """Files mutated from the shipped ones, each in `folder`, where the profiles are, too."""
    sources = [path for path in sorted(SHIPPED.glob("*.xml")) if path.stat().st_size < 8000]
    shutil.copytree(SHIPPED / "profiles", folder / "profiles")
    random = Random(seed)
    paths = [folder / f"{index}.xml" for index in range(number)]
    for path in paths:
        path.write_text(mutated(random.choice(sources).read_text(), random))
    return paths


def test_a_mutated_file_is_a_platform_or_one_line(tmp_path: Path) -> None:
    for path in mutants(tmp_path, 300, seed=1):
        ours = by_us(path)
        assert not isinstance(ours, str) or (ours.startswith(str(tmp_path)) and len(ours.splitlines()) == 1), ours


@needs_simgrid
def test_mutated_files_are_read_as_simgrid_reads_them(tmp_path: Path) -> None:
    paths = mutants(tmp_path, 100, seed=2)
    both = 0
    for path, simgrid in zip(paths, by_simgrid(tmp_path, paths), strict=True):
        ours = by_us(path)
        if simgrid is not None and isinstance(ours, str):
            assert NEVER_READ.search(ours), f"SimGrid loads what we refuse: {ours}"
        elif simgrid is not None and not isinstance(ours, str):
            both += 1
            check_alike(simgrid, ours)
    assert both >= 20
