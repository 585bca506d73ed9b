"""Measure what a platform of 16 to 16,384 hosts costs: loading the file, the first look-up of a route, a repeated
look-up, and memory.

python benchmarks/platform.py

Each size and shape of platform is measured in a process of its own. The last column is the exponent of growth from
1,024 to 16,384 hosts: an exponent of 1 means that the cost is proportional to the number of hosts.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (16, 64, 256, 1024, 4096, 16384)
LOOKUPS = 5000
HEAD = '<platform version="4.1"><zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" radical="0-{last}" '
HEAD += 'speed="1Gf" bw="10Gbps" lat="1us" {more}/></zone></platform>'
POWERS = {16: 2, 64: 3, 256: 4, 1024: 5, 4096: 6, 16384: 7}  # of four


def fat_tree(size: int) -> str:
    """Return the platform file of a fat tree whose switches have four ports down. The top switches have sixteen, so
    that a tree of 16,384 hosts has a realistic depth.
    """
    down = [4] * POWERS[size] if size < 1024 else [16] * int(math.log(size, 16)) + [size // 16 ** int(math.log(size, 16))]
    down = [number for number in down if number > 1]
    up = [1] + [max(2, number // 2) for number in down[1:]]
    numbers = (down, up, [1] * len(down))
    parameters = ";".join([str(len(down)), *(",".join(map(str, part)) for part in numbers)])
    return f'topology="FAT_TREE" topo_parameters="{parameters}"'


def dragonfly(size: int) -> str:
    """Return the platform file of a dragonfly with four hosts at each router; groups, chassis and routers make up the
    number of hosts.
    """
    routers = {16: (1, 1, 4), 64: (2, 2, 4), 256: (4, 4, 4), 1024: (8, 4, 8), 4096: (16, 4, 16), 16384: (16, 16, 16)}[size]
    return f'topology="DRAGONFLY" topo_parameters="{routers[0]},1;{routers[1]},1;{routers[2]},1;4"'


def torus(size: int) -> str:
    """Return the platform file of a three-dimensional torus."""
    power = int(math.log2(size))
    sides = [2 ** ((power + extra) // 3) for extra in range(3)]
    return f'topology="TORUS" topo_parameters="{",".join(map(str, sides))}"'


SHAPES = {"cluster": lambda _size: 'bb_bw="1Tbps" bb_lat="1us"', "fat tree": fat_tree, "dragonfly": dragonfly, "torus": torus}


def measure(shape: str, size: int) -> dict[str, float]:
    """Measure a platform of one shape and size in this process. Return each cost by the name of its column."""
    from rsg_server.platform.simgrid_xml import load_platform

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(HEAD.format(last=size - 1, more=SHAPES[shape](size)))
        file.flush()
        before, start = resident(), time.perf_counter()
        platform = load_platform(file.name)
        loading, loaded = time.perf_counter() - start, resident()
    chance = random.Random(1)
    pairs = [tuple(chance.sample(platform.hosts, 2)) for _ in range(LOOKUPS)]
    start = time.perf_counter()
    for source, destination in pairs:
        platform.route(source, destination)
    first, used = time.perf_counter() - start, resident()
    start = time.perf_counter()
    for source, destination in pairs:
        platform.route(source, destination)
    again = time.perf_counter() - start
    return {
        "load (ms)": loading * 1e3,
        "first look-up (us)": first / LOOKUPS * 1e6,
        "again (us)": again / LOOKUPS * 1e6,
        "memory (MiB)": (loaded - before) / 2**20,
        f"with {LOOKUPS:,} routes (MiB)": (used - before) / 2**20,
    }


def exponent(values: list[float]) -> float:
    """Return the exponent of growth over the last two steps of the sizes; each step multiplies the number of hosts by
    four.
    """
    return math.log(max(values[-1], 1e-9) / max(values[-3], 1e-9)) / math.log(SIZES[-1] / SIZES[-3])


def main() -> None:
    """Print a table of costs for each shape of platform."""
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
        return
    for shape in SHAPES:
        command = [sys.executable, __file__, shape]
        rows = [json.loads(subprocess.check_output([*command, str(size)])) for size in SIZES]
        print(f"\n{shape:<28}" + "".join(f"{size:>10,}" for size in SIZES) + "   growth")
        for key in rows[0]:
            values = [row[key] for row in rows]
            print(f"{key:<28}" + "".join(f"{value:>10.2f}" for value in values) + f"{exponent(values):>9.2f}")


if __name__ == "__main__":
    main()
