"""Which processes are traced, and how their ends are worded."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from rsg_server.diagnosis.traces import Selection, Traces, describe_status, signal_name
from rsg_server.errors import SimunixError
from rsg_server.protocol import FLAG_TRACE, FLAG_TRACE_STABLE
from tests.unit.rsg_server.fakes import fake


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("h0", True),
        ("h1", False),
        ("h*", True),
        (":fake", True),
        ("h0:f*", True),
        ("h0:fake2", False),
        (":sh", False),
    ],
)
def test_selection(text: str, matches: bool) -> None:
    with fake() as world:
        assert Selection.parse(text, ["h0", "h1"]).matches(world.born().process) is matches


def test_unknown_host_is_named() -> None:
    with pytest.raises(SimunixError, match=r"--strace=node9:sh: no host 'node9'; known: h0, h1"):
        Selection.parse("node9:sh", ["h0", "h1"])


def test_files_and_last_lines(tmp_path: Path) -> None:
    with fake() as world:
        traces = Traces(lambda host: tmp_path / host, [Selection()], stable=True, own_pids=True)
        actor = world.born()
        assert traces.flags(actor.process) == FLAG_TRACE | FLAG_TRACE_STABLE
        world.descriptors.append(traces.open(actor))
        traces.ended(actor, 1_500_000_000, "exited with 0")
        traces.ended(actor, 1_500_000_000, "said once only")
        assert (tmp_path / "h0" / "strace" / f"fake.{actor.tid}").read_text() == "1.500000000 +++ exited with 0 +++\n"


def test_a_folder_that_cannot_be_made_traces_nobody(tmp_path: Path) -> None:
    (tmp_path / "h0").write_text("in the way")
    with fake() as world:
        traces = Traces(lambda host: tmp_path / host, [Selection()], stable=False, own_pids=True)
        assert traces.open(world.born()) < 0


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exited with 0"),
        (3 << 8, "exited with 3"),
        (15, "killed by SIGTERM"),
        (11 | 0x80, "killed by SIGSEGV (core dumped)"),
    ],
)
def test_endings(status: int, words: str) -> None:
    assert describe_status(status) == words


def test_signals_are_named_as_strace_does() -> None:
    assert [signal_name(number) for number in (signal.SIGCHLD, 32, 33, 64)] == ["SIGCHLD", "SIGRTMIN", "SIGRT_1", "SIGRT_32"]
