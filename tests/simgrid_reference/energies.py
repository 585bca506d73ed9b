"""Writes energies.json.gz: what SimGrid's plugins host_energy and link_energy say that platforms and loads consume.

    apt-get install libsimgrid-dev g++
    g++ -O1 -std=c++17 energies.cpp -o energies -lsimgrid && python3 energies.py ./energies energies.json.gz

A case has a platform as XML, flags of SimGrid, the lines of what happens (see energies.cpp), and the joules of hosts and links.
Links have a latency of 0 but in one case: SimGrid counts the latency of a flow as if the link were loaded then. One host
that idles at first begins in another power state than 0: SimGrid counts the watts of 0 until it first looks at the host.
"""

import gzip
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PUBLIC = Path(__file__).resolve().parents[1] / "unit/rsg_server/platform/simgrid_platforms/energy_platform.xml"
BOOT = PUBLIC.with_name("energy_boot.xml")
CONTROLLER = '<host id="controller" speed="1Gf"/>'
HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="controller" speed="1Gf"/>
"""
TAIL = "</zone></platform>\n"
NO_CROSS = ["--cfg=network/crosstraffic:0"]
CM02 = ["--cfg=network/model:CM02", *NO_CROSS]
CURIE = "117:130:358,117:130:317,117:128:269,117:125:193"


def host(name, speed, watts, off=None, cores=1, pstate=0):
    """A host with its watts."""
    props = f'<prop id="wattage_per_state" value="{watts}"/>' + (f'<prop id="wattage_off" value="{off}"/>' if off else "")
    return f'<host id="{name}" speed="{speed}" core="{cores}" pstate="{pstate}">{props}</host>\n'


def link(name, bandwidth, watts, ends, latency="0us"):
    """A shared link between two hosts, with its watts."""
    return (
        f'<link id="{name}" bandwidth="{bandwidth}" latency="{latency}" sharing_policy="SHARED">'
        f'<prop id="wattage_range" value="{watts}"/></link>\n'
        f'<route src="{ends[0]}" dst="{ends[1]}"><link_ctn id="{name}"/></route>\n'
    )


def executions(seed, hosts, count, cores, until, flops):
    """Executions at random moments, in an order of time; moments are whole milliseconds."""
    rng = random.Random(seed)
    lines = []
    for name in hosts:
        for _ in range(count * cores):
            lines.append(f"execute {name} {rng.randrange(int(until * 1000)) / 1000} {rng.randrange(1, int(flops))}")
    return lines


def pstates(seed, name, states, count, until):
    """Changes of the power state at random moments."""
    rng = random.Random(seed)
    moments = sorted(rng.sample(range(1, int(until * 1000)), count))
    return [f"pstate {name} {moment / 1000} {rng.randrange(states)}" for moment in moments]


def by_time(lines):
    """Changes in the order of their moments."""
    return sorted(lines, key=lambda line: float(line.split()[2]))


ONE = host("a", "1Gf", "95:190")
FOUR = host("a", "100Mf", "100:120:200", 10, 4)
STATES = host("a", "100Mf,50Mf,20Mf", "100.0:120.0:200.0, 93.0:110.0:170.0, 90.0:105.0:150.0", 10, 4)
SIXTEEN = host("n0", "2.7Gf,2.4Gf,2.0Gf,1.2Gf", CURIE, 14, 16) + host("n1", "2.7Gf,2.4Gf,2.0Gf,1.2Gf", CURIE, 14, 16, 3)
PAIR = host("a", "1Gf", "95:190") + host("b", "1Gf", "90:100:170", 8, 2)
WIRE = link("l", "125MBps", "10.3581:35.2161", "ab")

CASES = {
    "idle": (ONE, [], ["end 100"]),
    "one core, one execution": (ONE, [], ["execute a 1 1e9", "end 10"]),
    "one core, shared": (ONE, [], ["execute a 1 1e9", "execute a 1.5 2e9", "execute a 2 3e8", "end 10"]),
    "four cores without epsilon": (host("a", "1Gf", "100:200", None, 4), [], ["execute a 0 1e9", "execute a 3 1e9", "end 10"]),
    "four cores, each once more": (FOUR, [], [f"execute a {i} 1e9" for i in range(6)] + ["end 40"]),
    "four cores, random": (FOUR, [], [*executions(1, "a", 10, 4, 100, 5e8), "end 300"]),
    "power states, idle": (STATES, [], ["pstate a 10 1", "pstate a 20 2", "pstate a 30 0", "end 50"]),
    "power states under load": (STATES, [], ["execute a 1 1e9", "pstate a 3 2", "pstate a 7 1", "end 60"]),
    "power states, random": (STATES, [], [*executions(2, "a", 10, 4, 100, 2e8), *pstates(3, "a", 3, 25, 200), "end 900"]),
    "off and on": (FOUR, [], ["execute a 1 1e8", "off a 5", "on a 25.5", "off a 30", "end 60"]),
    "off under load": (FOUR, [], ["execute a 1 1e10", "execute a 2 1e10", "off a 5", "on a 7", "end 10"]),
    "off, another state, on": (STATES, [], ["off a 5", "pstate a 6 2", "on a 8", "end 20"]),
    "Curie's nodes": (
        SIXTEEN,
        [],
        [
            *executions(4, ["n0", "n1"], 6, 16, 500, 4e10),
            *by_time([*pstates(5, "n0", 4, 20, 900), *pstates(6, "n1", 4, 20, 900), "off n1 950", "on n1 1200"]),
            "end 2000",
        ],
    ),
    # examples/cpp/energy-exec of SimGrid, which says 2905, 2100 and 3000 J
    "SimGrid's energy-exec": (
        PUBLIC.read_text(),
        [],
        ["execute MyHost1 10 1e8", "pstate MyHost1 11 2", "execute MyHost1 11 1e8", "off MyHost2 20", "end 30"],
    ),
    # examples/cpp/energy-boot of SimGrid: power states of speed 0 stand for a shutdown of 7 s and a boot of 150 s
    "SimGrid's energy-boot": (
        BOOT.read_text(),
        [],
        [
            *("pstate MyHost1 10 4", "off MyHost1 17", "pstate MyHost1 27 3", "on MyHost1 27", "pstate MyHost1 177 0"),
            *("execute MyHost2 20 3e9", "end 200"),
        ],
    ),
    "begins in power state 2": (
        host("a", "100Mf,50Mf,20Mf", "100:120:200,93:110:170,90:105:150", 10, 4, 2),
        [],
        [*executions(7, "a", 10, 4, 100, 2e8), *pstates(8, "a", 3, 25, 200), "end 900"],
    ),
    "link, idle": (PAIR + WIRE, CM02, ["end 50"]),
    "link, one transfer": (PAIR + WIRE, CM02, ["send a b 2 1e8", "end 50"]),
    "link, three transfers at once": (
        PAIR + WIRE,
        CM02,
        ["send a b 2 1e8", "send b a 2.25 5e7", "send a b 2.5 3e7", "execute b 2 1e9", "end 50"],
    ),
    "link, LV08": (PAIR + WIRE, NO_CROSS, ["send a b 2 1e8", "send a b 2.1 2e8", "end 50"]),
    "link, cross-traffic": (PAIR + WIRE, [], ["send a b 2 1e8", "end 50"]),
    "link with a latency": (
        PAIR + link("l", "125MBps", "10:35", "ab", "50us"),
        CM02,
        ["send a b 2 1e8", "send b a 20 1e8", "end 50"],
    ),
}


def platform_of(inside):
    """The platform around hosts and links; of a whole one, such as SimGrid's own example, with a host more."""
    return (
        inside.replace('routing="Full">', f'routing="Full">{CONTROLLER}', 1) if "<platform" in inside else HEAD + inside + TAIL
    )


def main(program, out):
    """Run all cases."""
    found = []
    for name, (inside, flags, lines) in CASES.items():
        platform = platform_of(inside)
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(platform)
            file.flush()
            done = subprocess.run(
                [program, file.name, "--log=root.t:critical", *flags],
                input="\n".join(lines) + "\n",
                capture_output=True,
                text=True,
                check=True,
            )
        said = [line.split() for line in done.stdout.splitlines()]
        found.append(
            {
                "name": name,
                "platform": platform,
                "flags": flags,
                "lines": lines,
                "hosts": {words[1]: float(words[2]) for words in said if words[0] == "host"},
                "links": {words[1]: float(words[2]) for words in said if words[0] == "link"},
            }
        )
        assert found[-1]["hosts"], done
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(json.dumps(found, indent=1).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
