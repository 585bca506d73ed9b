"""Runs of one scenario under different conditions of the caller: one digest, and programs that print the same.

Nothing of the caller may decide anything: umask, environment, limits, scheduler class, signals, descriptors, folders, load.
`python -m tests.endurance.callers --rounds 7` runs all conditions seven times.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 120.0
LOOK = """
umask; ulimit -a; env | sort; id; pwd; cat /etc/hosts; tr '\\0' '\\n' < /proc/1/environ | sort
ls -ln /etc/hosts /dev/shm; cat /proc/self/oom_score_adj; nice; chrt -p $$ | sed 's/pid [0-9]*//'; ionice -p $$
ls -l /proc/self/fd | wc -l; grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|CapEff)' /proc/self/status
touch fresh; stat -c '%a %U' fresh; date; for i in 1 2 3; do sleep 1 & done; wait; seq 3000 | sha256sum
"""
SCENARIO = {
    "name": "callers",
    "epoch": "2000-01-01",
    "hosts": [{"name": "n[1-2]", "private": ["/srv/here"]}],
    "processes": [
        {"name": "root", "host": "n1", "command": LOOK, "directory": "/srv/here"},
        {"name": "user", "host": "n2", "command": LOOK + "cat /etc/hosts", "user": "nobody", "directory": "/dev/shm"},
    ],
}
Prepare = Callable[[], object]


def _limit(what: int, soft: int) -> Prepare:
    """Set a soft limit: the hard one, once lowered, can be raised again by nobody but a privileged user."""

    def lower() -> None:
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))

    return lower


def _score(value: int) -> Prepare:
    return lambda: Path("/proc/self/oom_score_adj").write_text(str(value))


def _ignored(*numbers: int) -> Prepare:
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]


def _prctl(option: int, value: int) -> Prepare:
    return lambda: ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _open_many() -> None:
    for _ in range(40):
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


BLOCKED = {signal.SIGUSR2, signal.SIGALRM, signal.SIGCHLD}
INFINITY = resource.RLIM_INFINITY


@dataclass(frozen=True, slots=True)
class Condition:
    """How the caller differs from the usual one: what it does before simunix, its environment, its folder, its words."""

    prepare: Prepare = lambda: None
    environment: dict[str, str] = field(default_factory=dict)
    only: bool = False  # nothing but these variables and PATH
    folder: str = ""
    before: tuple[str, ...] = ()
    stdin: int | None = subprocess.DEVNULL


CONDITIONS: dict[str, Condition] = {
    "usual": Condition(),
    "umask 000": Condition(lambda: os.umask(0)),
    "umask 027": Condition(lambda: os.umask(0o027)),
    "umask 077": Condition(lambda: os.umask(0o077)),
    "empty environment": Condition(only=True),
    "environment of 93 KB": Condition(environment={f"LONG_{number}": "x" * 1000 for number in range(93)}),
    "secrets": Condition(environment={"AWS_SECRET_ACCESS_KEY": "s3cret", "TOKEN": "t0ken"}),
    "another language": Condition(environment={"LANG": "de_DE.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "fr"}),
    "plain C": Condition(environment={"LC_ALL": "C", "PYTHONUTF8": "0"}),
    "another zone": Condition(environment={"TZ": "Asia/Tokyo"}),
    "another hash seed": Condition(environment={"PYTHONHASHSEED": "4711"}),
    "another home and user": Condition(environment={"HOME": "/nonexistent", "USER": "else", "SHELL": "/bin/dash"}),
    "shell options": Condition(
        environment={"POSIXLY_CORRECT": "1", "BASH_ENV": "/dev/null", "ENV": "/dev/null", "CDPATH": "/"}
    ),
    "few descriptors": Condition(_limit(resource.RLIMIT_NOFILE, 256)),
    "small stack": Condition(_limit(resource.RLIMIT_STACK, 4 << 20)),
    "endless stack": Condition(_limit(resource.RLIMIT_STACK, INFINITY)),
    "no cores": Condition(_limit(resource.RLIMIT_CORE, 0)),
    "large cores": Condition(_limit(resource.RLIMIT_CORE, 1 << 20)),
    "limited files": Condition(_limit(resource.RLIMIT_FSIZE, 1 << 32)),
    "limited CPU time": Condition(_limit(resource.RLIMIT_CPU, 3600)),
    "limited locks": Condition(_limit(resource.RLIMIT_MEMLOCK, 64 << 10)),
    "few pending signals": Condition(_limit(resource.RLIMIT_SIGPENDING, 2000)),
    "nice": Condition(lambda: os.nice(15)),
    "batch class": Condition(lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))),
    "out of memory first": Condition(_score(500)),
    "ignored signals": Condition(_ignored(signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGTSTP)),
    "ignored children": Condition(_ignored(signal.SIGCHLD)),
    "blocked signals": Condition(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)),
    "open descriptors": Condition(_open_many),
    "no new privileges": Condition(_prctl(38, 1)),
    "slack of timers": Condition(_prctl(29, 10_000_000)),
    "a session of its own": Condition(lambda: os.setsid()),
    "one core": Condition(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})),
    "no randomisation": Condition(before=("setarch", "-R")),
    "closed input": Condition(lambda: os.close(0)),
    "a long folder": Condition(folder="/".join(["a-rather-long-name-of-a-folder"] * 6)),
    "temporary files elsewhere": Condition(environment={"TMPDIR": "/dev/shm"}),
    "load": Condition(before=("bash", "-c", 'timeout 20 sh -c "while :; do :; done" & "$@"; kill $!; exit 0', "bash")),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run has left: the digest of its events, what its programs have printed, whether it can be repeated."""

    digest: str
    printed: dict[str, str]
    is_deterministic: bool


def seen(name: str) -> Seen:
    """Run the scenario under a condition. Raises RuntimeError with the output of a run that fails."""
    condition = CONDITIONS[name]
    with tempfile.TemporaryDirectory(prefix="callers-") as top:
        folder = Path(top, condition.folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "s.yaml").write_text(json.dumps(SCENARIO))
        given = {"PATH": os.environ["PATH"]} if condition.only else dict(os.environ)
        done = subprocess.run(
            [*condition.before, sys.executable, "-m", "simunix.cli.main", "run", "s.yaml", "--out", "out"],
            cwd=folder,
            env={**given, **condition.environment, "PYTHONPATH": str(ROOT)},
            preexec_fn=condition.prepare,
            stdin=condition.stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        if done.returncode or not (folder / "out/run.json").exists():
            raise RuntimeError(f"{name}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        record = json.loads((folder / "out/run.json").read_text())
        paths = sorted((folder / "out/hosts").glob("*/*.out"))
        printed = {f"{path.parent.name}/{path.name}": path.read_text() for path in paths}
        return Seen(record["events_sha256"], printed, record["deterministic"])


def difference(name: str, usual: Seen) -> str:
    """What a condition has changed; "" if nothing."""
    try:
        found = seen(name)
    except RuntimeError as error:
        return str(error)
    for program, text in usual.printed.items():
        lines = zip(text.splitlines(), found.printed.get(program, "").splitlines(), strict=False)
        changed = [f"{before!r} became {after!r}" for before, after in lines if before != after]
        if changed or text != found.printed.get(program):
            return f"{name}: {program}: {'; '.join(changed[:4]) or 'more or fewer lines'}"
    return "" if found == usual else f"{name}: digest {found.digest[:12]}, usually {usual.digest[:12]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    reference = seen("usual")
    wrong = 0
    for _ in range(options.rounds):
        for each in options.names or CONDITIONS:
            problem = difference(each, reference)
            wrong += bool(problem)
            print(problem or f"{each}: the same", flush=True)
    print(f"{wrong} of {options.rounds * len(options.names or CONDITIONS)} runs were not as usual")
    sys.exit(1 if wrong else 0)
