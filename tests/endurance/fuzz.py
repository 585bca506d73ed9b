"""Every input, mutated: no traceback, no more than ten seconds of CPU time, no more than a GiB of memory.

Inputs are shipped files and small texts, with bytes, words, lines and values changed, repeated and mixed. What has failed once
is kept in `tests/endurance/seeds/KIND/`, which `test_fuzz.py` tries. `python -m tests.endurance.fuzz` runs for an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import msgpack
import trio
import yaml

from rsg_server.edge.control import Caller, Control
from rsg_server.edge.service import Service, ServiceOptions
from rsg_server.errors import SimunixError, described
from rsg_server.platform.simgrid_xml.reader import load_platform
from rsg_server.process.actor import State
from rsg_server.protocol import Wait
from simunix.cli.main import COMMANDS, main
from simunix.flows.file import read_flows
from simunix.planning.expand import expand
from simunix.ranges import expand_hosts
from simunix.report.differences import settings
from simunix.report.run_data import read_run
from simunix.results.events import read_events
from simunix.rjms.scenario import load
from simunix.sweep.experiment import load_experiment
from simunix.sweep.runs import runs_of
from simunix.units import duration_ns, duration_s, rate_bytes_per_s, size_bytes, speed_flops
from simunix.workload.formats.by_name import read_trace
from tests.endurance import site_inputs
from tests.unit.rsg_server.fakes import HANDLERS, Fake, fake

ROOT = Path(__file__).resolve().parents[2]
SEEDS = Path(__file__).resolve().parent / "seeds"
CPU_S, MEMORY_BYTES = 10.0, 1 << 30
WORDS = (
    *(
        b"-1 0 1 9 99999999999999999999 1e999 nan inf .inf -0 0x10 1_000 ~ null true [] {} [1-3] [1-1000] [ ] { } : , - # & *"
        b" ! | > % <<: *a &a \\ / .. ../../x /dev/null \xff \xc3\x28 \xe2\x80\xae \xc2\xb2 \x00 10Gbps 5s 1d2h 1TiB 2.5Gf"
        b" n[1-4] a[1-x] a[1- NodeName= slurm: hosts: workload: events: network: <host <link <zone <route <!DOCTYPE &lt; type"
        b" delay"
    ).split(b" "),
    b"9" * 5000,
    b"[" * 3000,
)


class TooLongError(Exception):
    """An input that takes more than CPU_S."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input: what reads it from a file of this name, and examples of it."""

    name: str
    read: Callable[[Path], object]
    examples: Callable[[], Sequence[bytes]]
    weight: int = 1
    is_structured: bool = False


def _files(*patterns: str, most: int = 100_000) -> Callable[[], Sequence[bytes]]:
    paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return lambda: [path.read_bytes()[:most] for path in paths]


def _texts(*texts: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [text.encode() for text in texts]


def _scenario(path: Path) -> None:
    expand(load(path), path.parent, checked=False)


def _overrides(path: Path) -> None:
    text = os.fsdecode(path.read_bytes())
    load(ROOT / "scenarios/nasa-ipsc.yaml", text.split("\n"))


def _configuration(path: Path) -> None:
    scenario = path.with_name("s.yaml")
    scenario.write_text(f"hosts: [{{name: 'c,n[1-2]'}}]\nslurm: {{controller: c, nodes: 'n[1-2]', config: {path.name}}}\n")
    expand(load(scenario), path.parent, checked=False)


def _quantities(path: Path) -> None:
    text = os.fsdecode(path.read_bytes())
    for read in (expand_hosts, duration_ns, duration_s, rate_bytes_per_s, size_bytes, speed_flops):
        with contextlib.suppress(ValueError):
            read(text)


def _run_folder(path: Path) -> None:
    for name in ("run.json", "events.jsonl", "jobs.csv", "machines.csv", "scenario.yaml"):
        path.with_name(name).write_bytes(path.read_bytes())
        with contextlib.suppress(SimunixError):
            settings(read_run(path.parent))
        if name == "events.jsonl":
            with contextlib.suppress(SimunixError):
                list(read_events(path.with_name(name)))
        path.with_name(name).unlink()


def _words(path: Path) -> None:
    """Words of a command line; none that would run a program, or write elsewhere."""
    words = os.fsdecode(path.read_bytes().replace(b"\0", b"")).split("\n")
    if words[0] in ("bench", "run", "sweep", "shell", "root") and len(words) > 1 and "--help" not in words:
        words = [words[0], "/nonexistent.yaml", *(word for word in words[1:] if word.startswith("--") and "join" not in word)]
    folder = os.getcwd()
    os.chdir(path.parent)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(words)
    except SystemExit:
        pass
    finally:
        os.chdir(folder)


VALUES = (
    None, True, False, 0, -1, 1, 7, 1 << 31, 1 << 63, 1 << 64, 10**30, 0.5, -0.0, float("inf"), float("nan"), 1e308, "", "x",
    "1", "../../x", "/", "n[1-3]", "a[1-", "10Gbps", "5s", "-5s", "1TiB", "x" * 5000, "\u00b2", "\x00", "\n", [], {}, [[]],
    {"": None}, ["a", 1], {"a": {"b": 1}},
)  # fmt: skip


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    """All containers of a value, each with every key or index of it."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])  # type: ignore[index]


def restructured(chance: random.Random, data: bytes) -> bytes:
    """A document of YAML or JSON with one to four of its values replaced, removed, renamed or moved."""
    document = yaml.safe_load(data)
    for _ in range(chance.randrange(1, 5)):
        places = list(_places(document))
        if not places:
            break
        container, key = chance.choice(places)
        how = chance.randrange(5)
        if how == 0:
            del container[key]
        elif how == 1 and isinstance(container, dict):
            container[str(chance.choice(VALUES))] = container.pop(key)
        elif how == 2:
            other, index = chance.choice(places)
            if isinstance(other, dict) == (index in other if isinstance(other, dict) else False):
                container[key] = copy.deepcopy(other[index])
        else:
            container[key] = copy.deepcopy(chance.choice(VALUES))
    return json.dumps(document, default=str).replace("Infinity", ".inf").replace("NaN", ".nan").encode()


REQUESTS = (
    '{"op": "rsg add-actor", "name": "a", "host": "h0", "argv": ["/bin/true"], "environment": {}, "directory": "/"}',
    '{"op": "rsg kill", "reason": "x"}',
    '{"op": "run", "host": "h0", "argv": ["/bin/true", "x"], "environment": {"A": "b"}, "directory": "/"}',
    '{"op": "pace", "pace": 2.5}',
    '{"op": "pause"}',
    '{"op": "until", "virtual_ns": 5000000000}',
    '{"op": "step"}',
    '{"op": "terminal", "host": "h0", "argv": ["x"], "environment": {"TERM": "y"}, "rows": 24, "columns": 80}',
    '{"op": "ps", "host": "h1"}',
    '{"op": "change", "changes": [{"kind": "HostChange", "host": "h1", "state": "off", "grace_ns": 5}]}',
    '{"op": "change", "changes": [{"kind": "Partition", "one": ["h0"], "other": ["h1"]}, {"kind": "Heal", "one": []}]}',
    '{"op": "change", "changes": [{"kind": "Loss", "one": ["h0"], "rate": 0.5, "other": ["h1"]}]}',
    '{"op": "change", "changes": [{"kind": "LinkChange", "link": "h0", "bandwidth_bytes_per_s": 5.0, "latency_s": null}]}',
)
MESSAGES = 60
WAITS_S = 0.05
NUMBERS = (0, 1, 2, 3, -1, 5, 100, 101, 102, 103, 1000, 65535, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), (1 << 64) - 1)


def _messages(path: Path) -> None:
    """Messages of three processes, whose operations, arguments and order the file's bytes decide."""
    chance = random.Random(path.read_bytes())
    with fake() as world:
        actors = [world.born(host) for host in ("h0", "h1", "h0")]
        for _ in range(MESSAGES):
            actor = chance.choice(actors)
            if actor.state is not State.RUNNING:
                continue
            operation = chance.choice(list(HANDLERS))
            arguments = [_argument(chance, kind) for kind in HANDLERS[operation].shape]
            if chance.random() < 0.1:
                arguments = arguments[:-1] if chance.random() < 0.5 else [*arguments, chance.choice((b"", "x", None, [], -1))]
            world.send(actor, msgpack.packb([operation, *arguments]))
            if chance.random() < 0.3:
                _go_on(world, chance.randrange(20))


def _request(path: Path) -> None:
    """A request to the control socket of an emulation without real processes, and what comes of it."""
    with fake() as world:
        world.born("h0")
        service = Service(world.kernel, ServiceOptions())
        service._restart_pace()
        answer = trio.run(_answer, Control(service, path), path.read_bytes())
        json.dumps(answer)
        service._set_limit()
        for actor in list(world.kernel.actors.values()):
            world.park(actor, Wait.FD)
        _go_on(world, 5)


async def _answer(control: Control, message: bytes) -> object:
    """The answer to a request; None of one that waits until a run that goes on is paused."""
    with trio.move_on_after(WAITS_S):
        return await control._dispatch(message, Caller([0, 1, 2]))
    return None


def _go_on(world: Fake, moments: int) -> None:
    """Let what is ready happen, and what is due at the next moments: a timer may be due every nanosecond."""
    world.wake_ready()
    for _ in range(moments):
        due = world.kernel.timeline.next_ns
        if due is not None:
            world.pass_time(due)


def _argument(chance: random.Random, kind: str) -> object:
    if kind == "i":
        return chance.choice(NUMBERS) if chance.random() < 0.7 else chance.randrange(-5, 300)
    if kind == "b":
        return chance.choice((b"", bytes(4), b"\x0a\0\0\x01", b"\x7f\0\0\1", bytes(16), bytes(64), bytes([255]) * 48))
    return chance.choice(("", "x", "/bin/sh", "h0", "a/b", "\u00ff", "x" * 300))


KINDS = (
    Kind("scenario.yaml", _scenario, _files("scenarios/*[a-z0-9].yaml"), 4, True),
    Kind(
        "override.txt",
        _overrides,
        _texts("network.latency=50us", "hosts[0].cores=4", "slurm.parameters.X=1", "workload.max_jobs=3"),
    ),
    Kind("experiment.yaml", lambda path: runs_of(load_experiment(path)), _files("scenarios/*.experiment.yaml"), 1, True),
    Kind("trace.swf", read_trace, _files("scenarios/traces/*.swf", most=4000), 2),
    Kind("workload.json", read_trace, _files("scenarios/traces/*.json", "tests/unit/simunix/workload/*.json"), 2, True),
    Kind(
        "jobs.sacct",
        read_trace,
        _texts("JobID|Submit|Start|End|State|AllocCPUS\n1|2000-01-01T00:00:00|2000-01-01T00:00:01|Unknown|COMPLETED|4\n"),
    ),
    Kind("platform.xml", load_platform, _files("tests/simgrid_reference/platforms/*.xml", "tests/unit/**/*.xml"), 2),
    Kind(
        "slurm.conf",
        _configuration,
        _texts(
            "ClusterName=c\nSlurmctldHost=c\nNodeName=n[1-2] CPUs=1\nPartitionName=p Nodes=ALL\nSlurmdSpoolDir=/var/x\n",
            "ClusterName=c\nSlurmctldHost=c\nSchedulerParameters=a=1,\\\nb\nGresTypes=gpu\nNodeName=DEFAULT Gres=gpu:a:2(S:0)\n"
            'NodeName=n[1-2] Features="a, b" # c\nPartitionName=p Nodes=ALL\nStateSaveLocation="/var/x y"\n',
        ),
    ),
    Kind("quantity.txt", _quantities, _texts("node[01-16,20]x[1-2],b", "2h30m 5s", "10Gbps", "64GiB", "2.5Gf", "59.904us")),
    Kind("flows.json", read_flows, _texts('{"flows": [{"id": "a", "from": "x", "to": "y", "bytes": 5, "start": 0}]}'), 1, True),
    Kind(
        "of-a-run.txt",
        _run_folder,
        _texts(
            '{"name": "x", "seed": 1, "deterministic": true, "depends_on": {"a": 1}, "roots": [{"path": "/"}]}\n',
            '{"t":0,"event":"process_start","number":1,"argv":["x"]}\n',
            "job_id,workload_name,submission_time\n1,a,5\n",
            "host,first,cores\nn,0,4\n",
        ),
    ),
    Kind(
        "words.txt",
        _words,
        _texts(
            "check\ns.yaml",
            "report\nx\n--why",
            "workload\nstats\nx.swf",
            "platform\nshow\nx.xml",
            "net\nsolve\na\nb",
            "run\ns.yaml\n--seed\n1\n--pace=2",
            "\n".join(COMMANDS),
            "trace\nx",
            "schema\n--experiment",
            "ctl\nx\nstatus",
            "ps\nx",
        ),
    ),
    Kind("site.txt", site_inputs.read_site, site_inputs.sites, 3),
    Kind("dump.sacct", site_inputs.read_sacct_dump, _texts(site_inputs.DUMP), 2),
    Kind("table.csv", site_inputs.read_table, _texts(site_inputs.TABLE)),
    Kind("costs.yaml", site_inputs.read_costs, _texts(site_inputs.COSTS_YAML, site_inputs.COSTS_JSON), 1, True),
    Kind("deployment.xml", site_inputs.read_deployment, _texts(site_inputs.DEPLOYMENT)),
    Kind("request.json", _request, _texts(*REQUESTS), 1, True),
    Kind("messages.bin", _messages, _texts("any bytes decide"), 2),
)


def mutated(chance: random.Random, examples: Sequence[bytes]) -> bytes:
    """One of the examples, changed in one to eight places."""
    data = bytearray(chance.choice(examples))
    for _ in range(chance.randrange(1, 9)):
        at, length = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 5, 20, 200))
        how = chance.randrange(9)
        if how == 0:
            del data[at : at + length]
        elif how == 1:
            data[at:at] = chance.choice(WORDS)
        elif how == 2:
            data[at : at + length] = chance.choice(WORDS)
        elif how == 3:
            data[at:at] = data[at : at + length] * chance.choice((1, 2, 50))
        elif how == 4 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif how == 5:
            other = chance.choice(examples)
            start = chance.randrange(len(other) + 1)
            data[at:at] = other[start : start + length * 4]
        elif how == 6:
            data[at : at + length] = bytes(chance.randrange(256) for _ in range(length))
        elif how == 7:
            lines = data.split(b"\n")
            lines[chance.randrange(len(lines))] = lines[chance.randrange(len(lines))]
            data = bytearray(b"\n".join(lines))
        else:
            begin = data.rfind(b" ", 0, at) + 1
            end = data.find(b" ", at) if data.find(b" ", at) >= 0 else len(data)
            data[begin:end] = chance.choice(WORDS)
    return bytes(data)


def problem_of(kind: Kind, data: bytes) -> str:
    """What is wrong with how simunix takes an input; "" if it is read, or refused as it should be."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TooLongError(f"more than {CPU_S:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, too_long)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, kind.name)
        path.write_bytes(data)
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S)
        try:
            kind.read(path)
        except (SimunixError, OSError) as error:
            text = described(error) if isinstance(error, OSError) else str(error)  # as simunix.cli.main says it
            if "\n" in text or len(text) > 4000:
                return f"a message of {len(text)} characters, {text.count(chr(10))} line breaks: {text[:300]!r}"
        except Exception:
            return traceback.format_exc(limit=-6)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return f"a peak of {peak >> 20} MiB" if peak > MEMORY_BYTES else ""


def fuzz(
    seconds: float, seed: int, only: Sequence[str] = (), keep: bool = False, count: float = math.inf
) -> tuple[Counter[str], list[str]]:
    """Try mutated inputs for so long, or so many; return the number of each kind, and what is wrong, each place once."""
    chance = random.Random(seed)
    kinds = [kind for kind in KINDS if not only or kind.name in only]
    examples = {kind.name: kind.examples() for kind in kinds}
    tally: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end and tally.total() < count:
        (kind,) = chance.choices(kinds, [each.weight for each in kinds])
        if kind.is_structured and chance.random() < 0.6:
            data = restructured(chance, chance.choice(examples[kind.name]))
        else:
            data = mutated(chance, examples[kind.name])
        tally[kind.name] += 1
        problem = problem_of(kind, data)
        where = "".join(problem.splitlines()[-3:-1]) or problem
        if problem and where not in wrong:
            wrong[where] = problem
            print(f"--- {kind.name}\n{problem}", flush=True)
            if keep:
                folder = SEEDS / Path(kind.name).stem
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{seed}-{tally[kind.name]}").write_bytes(data)
    return tally, list(wrong.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep the inputs that fail in tests/endurance/seeds")
    parser.add_argument("kinds", nargs="*", help=", ".join(kind.name for kind in KINDS))
    given = parser.parse_args()
    counts, failures = fuzz(given.seconds, given.seed, given.kinds, given.keep)
    print(dict(counts), f"{len(failures)} wrong")
    sys.exit(1 if failures else 0)
