"""Every input, mutated: no traceback, no more than ten seconds of CPU time, no more than a GiB of memory.

Inputs are shipped files and small texts, with bytes, words, lines and values changed, repeated and mixed. What has failed once
is kept in `tests/endurance/seeds/KIND/`, which `test_fuzz.py` tries. `python -m tests.endurance.fuzz` runs for an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import io
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rsg_server.errors import SimunixError, described
from rsg_server.platform.simgrid_xml.reader import load_platform
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
from tests.endurance import server_inputs, site_inputs
from tests.endurance.mutations import mutated, restructured

ROOT = Path(__file__).resolve().parents[2]
SEEDS = Path(__file__).resolve().parent / "seeds"
CPU_S, MEMORY_BYTES = 10.0, 1 << 30


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
    Kind("request.json", server_inputs.read_request, _texts(*server_inputs.REQUESTS), 1, True),
    Kind("messages.bin", server_inputs.read_messages, _texts("any bytes decide"), 2),
)


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
