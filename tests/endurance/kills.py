"""Random signals to anything of a run at any moment, also in its closing seconds.

Whatever is hit: no process is left, nothing ends in a traceback, results are whole, and `deterministic` is true only of a run
whose digest is that of an undisturbed one. `python -m tests.endurance.kills --count 1000 --seed 1` makes 1,000 runs. A signal's
moment is a share of a part of the run (its start, its programs, its closing), and parts are told by what the run has made so
far: a loaded computer changes neither which parts are hit nor what is asked of a run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import mounts_of
from tests.processes import Brood, descendants, name_of

ROOT = Path(__file__).resolve().parents[2]
END_S, GONE_S, PATIENCE_S = 30.0, 10.0, 3.0
"""Real time in which a run must end once it is told to, in which all its processes must be gone, and in which a run that gets
no further is told to end."""
PARTS = (("start", 0.15), ("programs", 0.55), ("closing", 0.30))
"""The parts of a run, and how many of the signals are sent in each: before the programs run, until they have ended, after."""
SIGNALS = ("KILL", "TERM", "INT", "HUP", "STOP", "CONT", "USR1", "USR2", "QUIT", "ABRT", "XCPU", "SEGV", "FPE", "TRAP")
"""Not SIGPIPE: from outside it looks as if the process had done it (rsg_server/diagnosis/)."""
DEADLY = {signal.Signals[f"SIG{name}"] for name in SIGNALS} - {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""Signals that end simunix itself at once, without results."""
WORK = """
trap 'echo usr1' USR1
for i in 1 2 3 4 5 6 7 8 9 10; do
    (sleep 1; echo $i | cat) & /bin/sleep 0.$i; wait $!
done
"""
SCENARIO = {
    "name": "kills",
    "epoch": "2000-01-01",
    "hosts": [{"name": "n[1-4]"}],
    "processes": [
        {"name": "work", "host": "n[1-4]", "command": WORK},
        {"name": "idle", "host": "n[1-2]", "command": "sleep 12"},
    ],
}


@dataclass(slots=True)
class Outcome:
    """What a run under signals has left, and what is wrong with that."""

    hits: list[str] = field(default_factory=list)
    code: int = 0
    problems: list[str] = field(default_factory=list)
    said_deterministic: bool | None = None


def ticks(pids: list[int]) -> int:
    """The processor time that processes have used, in ticks of the kernel."""
    used = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            used += sum(int(word) for word in Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:15])
    return used


class Torture:
    """Runs one scenario again and again, in a folder of its own. `chance` decides what is hit, when and how."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.lengths_s: dict[str, float] = {}
        self.progress: tuple[list[int], int] = ([], -1)
        self.progress_at = 0.0
        self.digest, self.log = "", b""
        (folder / "s.yaml").write_text(json.dumps(SCENARIO))
        reference = self._run(self._measure)
        assert reference.code == 0 and not reference.problems, reference
        self.digest, self.log = str(self._record()["events_sha256"]), (folder / "out/events.jsonl").read_bytes()

    def once(self) -> Outcome:
        """One run, hit one to three times."""
        return self._run(self._hit)

    def _measure(self, process: subprocess.Popen[str]) -> list[str]:
        """Let a run be, and note how long each of its parts takes."""
        for (part, _), following in zip(PARTS, [*(name for name, _ in PARTS[1:]), ""], strict=True):
            began = time.monotonic()
            self._wait(process, following)
            self.lengths_s[part] = time.monotonic() - began
        return []

    def _wait(self, process: subprocess.Popen[str], part: str, then_s: float = 0.0) -> None:
        """Wait until a part of the run begins and some time has passed, or the run ends or hangs; "" is no part."""
        socket = self.folder / "out/control.sock"
        while self._gets_on(process) and not (
            part == "start" or (part == "programs" and socket.exists()) or (part == "closing" and self._is_closing())
        ):
            time.sleep(0.005)
        end = time.monotonic() + then_s
        while process.poll() is None and (left_s := end - time.monotonic()) > 0:
            time.sleep(min(0.01, left_s))

    def _gets_on(self, process: subprocess.Popen[str]) -> bool:
        """The run has not ended, and its processes have used processors, have begun or have ended lately.

        Of simunix itself, which looks round ten times a second, this is asked only when nothing else is there.
        """
        top, *others = descendants(process.pid)
        progress = others, ticks(others or [top])
        if progress != self.progress:
            self.progress, self.progress_at = progress, time.monotonic()
        return process.poll() is None and time.monotonic() < self.progress_at + PATIENCE_S

    def _is_closing(self) -> bool:
        """Programs have run, and the run accepts no more commands."""
        self.has_begun = self.has_begun or (self.folder / "out/control.sock").exists()
        return self.has_begun and not (self.folder / "out/control.sock").exists()

    def _hit(self, process: subprocess.Popen[str]) -> list[str]:
        hits = []
        names = [name for name, _ in PARTS]
        parts = self.chance.choices(names, [share for _, share in PARTS], k=self.chance.choice((1, 1, 2, 3)))
        share, at = 0.0, ""
        for part, moment in sorted(
            ((part, self.chance.random()) for part in parts), key=lambda hit: (names.index(hit[0]), hit[1])
        ):
            share = share if part == at else 0.0
            self._wait(process, part, (moment - share) * self.lengths_s[part])
            share, at = moment, part
            if process.poll() is not None:
                break
            everything = descendants(process.pid)
            target = process.pid if self.chance.random() < 0.15 else self.chance.choice(everything)
            number = signal.Signals[f"SIG{self.chance.choice(SIGNALS)}"]
            hits.append(f"{number.name} to {_name(target, everything)} at {moment:.0%} of {part}")
            try:
                os.kill(target, number)
            except ProcessLookupError:
                hits[-1] += " (gone)"
        return hits

    def _run(self, hit: object) -> Outcome:
        outcome = Outcome()
        with Brood.kept() as brood:
            output = self._begin_and_end(hit, outcome, brood)
            self._check(outcome, output, brood)
        return outcome

    def _begin_and_end(self, hit: object, outcome: Outcome, brood: Brood) -> str:
        self.has_begun, self.progress = False, ([], -1)
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "simunix.cli.main", "run", "s.yaml", "--out", "out"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
            start_new_session=True,
        )
        outcome.hits = (hit(process) if callable(hit) else None) or []
        output = self._end(process, outcome, brood)
        outcome.code = process.returncode
        return output

    def _end(self, process: subprocess.Popen[str], outcome: Outcome, brood: Brood) -> str:
        """Wait for the end; after a while, tell the run to end, once: it may wait for a process that was stopped."""
        while self._gets_on(process):
            time.sleep(0.02)
        if process.poll() is None:
            outcome.hits.append("SIGCONT and SIGTERM to simunix, since it still runs")
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        try:
            return process.communicate(timeout=END_S)[0]
        except subprocess.TimeoutExpired:
            what = "does not end" if process.poll() is None else "has ended, but who has its standard output does not,"
            outcome.problems.append(f"{what} within {END_S:g} s of SIGTERM")
            brood.kill()
            return process.communicate()[0]

    def _check(self, outcome: Outcome, output: str, brood: Brood) -> None:
        if left := brood.left(GONE_S):
            outcome.problems.append(f"still there: {', '.join(map(name_of, left))}")
        if mounts_of(self.folder):
            outcome.problems.append("mounts are left")
        out = self.folder / "out"
        if "Traceback" in output and (out.exists() or "KeyboardInterrupt" not in output):
            outcome.problems.append(f"a traceback: {output[output.index('Traceback') :]}")
        if list(out.glob(".*.part")) and outcome.code >= 0:
            outcome.problems.append("a result that is not whole")
        ended_at_once = outcome.code < 0 and -outcome.code in DEADLY
        if (out / "events.jsonl").exists() and not (out / "run.json").exists() and not ended_at_once:
            outcome.problems.append(f"no run.json; exit code {outcome.code}: {output}")
        if (out / "run.json").exists():
            self._check_results(outcome)

    def _check_results(self, outcome: Outcome) -> None:
        record = self._record()
        log = (self.folder / "out/events.jsonl").read_bytes()
        outcome.said_deterministic = bool(record["deterministic"])
        if record["deterministic"] and self.digest and (record["events_sha256"], log) != (self.digest, self.log):
            outcome.problems.append(f"deterministic, but another event log: {record['ended']}, {record['failure']}")
        try:
            for line in log.splitlines(keepends=True):
                json.loads(line.removesuffix(b"\n") if line.endswith(b"\n") else b"")
        except ValueError as error:
            outcome.problems.append(f"the event log is not whole: {error}: {log[-200:]!r}")

    def _record(self) -> dict[str, object]:
        record: dict[str, object] = json.loads((self.folder / "out" / "run.json").read_text())
        return record


def _name(pid: int, everything: list[int]) -> str:
    return f"{name_of(pid)} ({everything.index(pid) + 1} of {len(everything)})"


def torture(seconds: float, seed: int, count: int | None = None) -> tuple[Counter[str], list[Outcome]]:
    """Run for so long, or so often; return how often what came of it, and the outcomes that are wrong."""
    tally: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        runs = Torture(Path(folder), seed)
        end = time.monotonic() + seconds
        while time.monotonic() < end and (count is None or tally["runs"] < count):
            outcome = runs.once()
            tally["runs"] += 1
            tally[f"exit code {outcome.code}"] += 1
            tally[f"deterministic {outcome.said_deterministic}"] += 1
            tally.update(f"signals in {hit.split(' of ')[-1].split()[0]}" for hit in outcome.hits if "%" in hit)
            tally.update(f"signals to {hit.split()[2]}" for hit in outcome.hits if "%" in hit)
            if tally["runs"] % 50 == 0:
                print(dict(tally), flush=True)
            if outcome.problems:
                wrong.append(outcome)
                print(f"{outcome.hits}: {outcome.problems}", flush=True)
    return tally, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="make no more than so many runs")
    given = parser.parse_args()
    counts, failures = torture(given.seconds, given.seed, given.count)
    print(dict(counts), f"{len(failures)} wrong")
    sys.exit(1 if failures else 0)
