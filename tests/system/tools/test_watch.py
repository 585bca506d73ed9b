"""Viewers of a running emulation: `simunix ctl DIR watch`. Viewers change nothing in the run, even if they do not read."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from rsg_server.edge.watch import VIEWERS_MOST
from rsg_server.errors import SimunixError
from simunix.app.join import NotRunningError, ask, connect, follow
from tests.conftest import Simunix
from tests.starts import start
from tests.system.user import LIMIT_S

WORK = """\
name: work
hosts: [{name: 'n[1-4]'}]
processes:
  - {name: births, host: n1, command: 'while :; do (sleep 1; echo x) > /dev/null; sleep 1; done'}
  - {name: talk, host: n2, command: 'while :; do sleep 3; date +%s; done'}
events:
  - {at: 30s, host: n3, state: off, duration: 1min}
"""


@contextmanager
def running(folder: Path, name: str, *options: str) -> Iterator[Path]:
    """A run of WORK that is paused at its first second, until somebody has it go on."""
    (folder / "s.yaml").write_text(WORK)
    out = folder / name
    words = ("run", folder / "s.yaml", "--epoch", "2020-01-01", "--pause-at", "1", "--out", out, *options)
    with start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + LIMIT_S
            while not _is_paused(out):
                assert time.monotonic() < end
                time.sleep(0.02)
            yield out
        finally:
            process.terminate()
            process.wait(timeout=LIMIT_S)


def _is_paused(out: Path) -> bool:
    try:
        return bool(ask(out, {"op": "status"})["paused"])
    except NotRunningError:
        return False


def events_of(folder: Path, name: str, viewers: int) -> bytes:
    """The event log of ten virtual minutes with so many viewers, the first of which reads nothing."""
    with running(folder, name, "--until", "10min") as out, ExitStack() as stack:
        watching = [stack.enter_context(connect(out)) for _ in range(viewers)]
        for viewer in watching:
            viewer.send(json.dumps({"op": "watch", "every_s": 0.05}).encode())
        ask(out, {"op": "resume"})
        for viewer in watching[1:]:
            viewer.settimeout(LIMIT_S)
            assert len(list(iter(lambda viewer=viewer: viewer.recv(1 << 18), b""))) > 0  # type: ignore[misc]
        end = time.monotonic() + LIMIT_S
        while not (out / "run.json").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
    return (out / "events.jsonl").read_bytes() + json.loads((out / "run.json").read_text())["events_sha256"].encode()


@pytest.mark.slow
def test_ten_viewers_of_which_one_does_not_read_change_nothing(tmp_path: Path) -> None:
    assert events_of(tmp_path, "watched", 10) == events_of(tmp_path, "alone", 0)


def test_a_viewer_is_told_of_hosts_the_clock_and_the_end(tmp_path: Path, simunix: Simunix) -> None:
    with running(tmp_path, "out", "--until", "2min") as out:
        told = follow(out, 0.05)
        first = next(told)
        assert first["paused"] and first["speed"] == 0.0 and first["pace"] is None
        assert list(first["hosts"]) == ["n1", "n2", "n3", "n4"]
        ask(out, {"op": "until", "virtual_ns": 40 * 10**9})
        changes: dict[str, list[object]] = {}
        for message in told:
            changes |= message["hosts"]
            if message["virtual_ns"] >= 40 * 10**9:
                break
        assert changes["n3"] == ["off", 0] and "n4" not in changes
        told.close()
        with follow_printed(out) as printed:
            assert json.loads(printed.stdout.readline())["paused"]
            ask(out, {"op": "resume"})
            lines = printed.stdout.read().splitlines()
            assert printed.wait(timeout=LIMIT_S) == 0 and all("virtual_ns" in json.loads(line) for line in lines)
        done = simunix("ctl", out, "watch", "often")
        assert (done.returncode, done.stderr) == (2, "simunix: ctl watch: expected seconds between two lines, got 'often'\n")


@contextmanager
def follow_printed(out: Path) -> Iterator[subprocess.Popen[str]]:
    """`simunix ctl DIR watch`, which is killed if it does not end."""
    with start("ctl", out, "watch", "0.05", stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_viewer_too_many_is_refused_and_there_is_room_when_one_goes(tmp_path: Path) -> None:
    with running(tmp_path, "out") as out, ExitStack() as stack:
        viewers = [stack.enter_context(connect(out)) for _ in range(VIEWERS_MOST)]
        for viewer in viewers:
            viewer.send(b'{"op": "watch"}')
            assert viewer.recv(1 << 18)
        with pytest.raises(SimunixError, match=f"{VIEWERS_MOST} viewers follow this run already"):
            next(follow(out, 1))
        viewers[0].shutdown(socket.SHUT_RDWR)
        viewers[0].close()
        end = time.monotonic() + LIMIT_S
        while True:
            try:
                assert next(follow(out, 1))["paused"]
                break
            except SimunixError:
                assert time.monotonic() < end


@pytest.mark.parametrize("every_s", [0, 61, "soon", None, True])
def test_a_wrong_interval_is_refused(paused_run: Path, every_s: object) -> None:
    with pytest.raises(SimunixError, match=r"every_s: expected a number of seconds from 0.05 to 60"):
        ask(paused_run, {"op": "watch", "every_s": every_s})


@pytest.fixture(scope="module")
def paused_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running(tmp_path_factory.mktemp("paused"), "out") as out:
        yield out
