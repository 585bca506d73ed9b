#!/usr/bin/python3
"""Cray's command capmc, as far as Slurm's plugin power/cray_aries uses it: power caps of nodes, their energies, which
are up.

    capmc get_power_cap_capabilities | get_power_cap | node_status
    capmc get_node_energy_counter --nids 1-3,5
    capmc json --resource=/capmc/set_power_cap      (reads JSON from its standard input)

Answers are JSON, as on a Cray. `e` is 0 for success; for an error it is -1, `err_msg` has the reason, and the exit code
is 1. The program reads and writes the power files of nodes (/run/simunix/power/NODE/...) that exist on this host. The
file capmc.json beside this program has the range of the nodes' caps: [{"nids": [1, 2], "min": watts, "max": watts},
...].
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

WIRES = "/run/simunix/power"
PLAN = f"{os.path.dirname(os.path.abspath(__file__))}/capmc.json"
Answer = dict[str, Any]
Groups = list[dict[str, Any]]


class RefusedError(Exception):
    """The error that a request cannot be fulfilled; its text is the reason."""


def path(nid: int, name: str) -> str:
    """Return the path of a power file of a node."""
    return f"{WIRES}/nid{nid:05d}/{name}"


def read(nid: int, name: str) -> str:
    """Return the content of a power file of a node."""
    with open(path(nid, name)) as file:
        return file.read().strip()


def nids(groups: Groups) -> list[int]:
    """Return the numbers of all nodes."""
    return sorted(nid for group in groups for nid in group["nids"])


def ranges(text: str) -> Iterator[int]:
    """Yield the numbers of a list such as 1-3,5."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise RefusedError(f"nids {text[:80]!r}: expected a list such as 1-3,5")
        yield from range(int(first), int(last or first) + 1)


def capabilities(groups: Groups, words: list[str]) -> Answer:
    """Return the range of the nodes' caps, in watts."""
    found = []
    for number, group in enumerate(groups):
        least, most = group["min"], group["max"]
        control = {"name": "node", "desc": "Full node power control", "min": least, "max": most}
        limits = {"host_limit_min": least, "host_limit_max": most, "supply": most, "static": 0, "powerup": 0}
        found.append({"name": f"group{number}", "desc": "", **limits, "nids": group["nids"], "controls": [control]})
    return {"groups": found}


def caps(groups: Groups, words: list[str]) -> Answer:
    """Return the caps of all nodes in watts; 0 means no cap."""
    return {"nids": [{"nid": nid, "controls": [{"name": "node", "val": int(read(nid, "limit"))}]} for nid in nids(groups)]}


def energies(groups: Groups, words: list[str]) -> Answer:
    """Return the joules that nodes have consumed, and the moment."""
    if len(words) != 2 or words[0] != "--nids":
        raise RefusedError("get_node_energy_counter: expected --nids LIST")
    wanted, known = set(ranges(words[1])), nids(groups)
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f-00")  # noqa: UP017  any Python that a host has
    nodes = [{"nid": nid, "energy_ctr": int(float(read(nid, "joules"))), "time": now} for nid in known if nid in wanted]
    return {"nid_count": len(nodes), "nodes": nodes}


def status(groups: Groups, words: list[str]) -> Answer:
    """Return which nodes are up, and which have no power; an empty list is left out."""
    of: dict[str, list[int]] = {"ready": [], "on": [], "off": []}
    names = {"on": "ready", "off": "off"}
    for nid in nids(groups):
        of[names.get(read(nid, "state"), "on")].append(nid)
    return {name: numbers for name, numbers in of.items() if numbers}


def set_caps(groups: Groups, words: list[str]) -> Answer:
    """Set the caps that standard input lists; 0 removes a cap. The program checks all of them before it sets any."""
    if words != ["--resource=/capmc/set_power_cap"]:
        raise RefusedError(f"json {' '.join(words)[:80]}: only --resource=/capmc/set_power_cap is known")
    range_of = {nid: (group["min"], group["max"]) for group in groups for nid in group["nids"]}
    wanted: list[tuple[int, int]] = []
    for node in json.load(sys.stdin)["nids"]:
        for control in node["controls"]:
            nid, value = int(node["nid"]), int(control["val"])
            least, most = range_of.get(nid, (1, 0))
            if control["name"] != "node" or not (least <= value <= most or (value == 0 and nid in range_of)):
                raise RefusedError(f"nid {nid}: {control['name']} {value} W is not among {least} to {most} W")
            wanted.append((nid, value))
    for nid, value in wanted:
        with open(path(nid, "limit"), "w") as file:
            file.write(f"{value}\n")
    return {}


REQUESTS: dict[str, Callable[[Groups, list[str]], Answer]] = {
    "get_power_cap_capabilities": capabilities,
    "get_power_cap": caps,
    "get_node_energy_counter": energies,
    "node_status": status,
    "json": set_caps,
}


def main(words: list[str]) -> int:
    """Answer one request; return the exit code."""
    try:
        if not words or words[0] not in REQUESTS:
            raise RefusedError(f"no request {' '.join(words[:1])[:40]!r}; there are {', '.join(REQUESTS)}")
        with open(PLAN) as file:
            groups: Groups = json.load(file)
        answer: Answer = {"e": 0, "err_msg": "", **REQUESTS[words[0]](groups, words[1:])}
    except (RefusedError, OSError, ValueError, KeyError, TypeError) as error:
        answer = {"e": -1, "err_msg": str(error)}
    print(json.dumps(answer))
    return 0 if answer["e"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
