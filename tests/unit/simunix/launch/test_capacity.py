"""The resources of this computer that a plan needs, and the messages if these do not suffice."""

from __future__ import annotations

import re
import resource
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.star import star
from simunix.launch.factory.container import Isolation
from simunix.launch.limits import ksm as merging
from simunix.launch.limits import limits
from simunix.launch.limits.capacity import GIB, check, needs_of, shortages
from simunix.launch.limits.limits import UNLIMITED, Limit, raise_open_files
from simunix.launch.plan import Footprint, HostSpec, Plan, ProcessSpec
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

DAEMON = Footprint(4 << 20, 3, 8 << 20, 9, 2)
WIDE = dict.fromkeys(("memory", "tasks", "descriptors", "files", "namespaces"), UNLIMITED)


def plan(count: int, working: int = 0) -> Plan:
    """So many hosts with a daemon each, so many of these at work."""
    names = [f"h{number}" for number in range(count)]
    hosts = [Host(name, (ip_address("10.0.0.1") + number,), 1, GIB) for number, name in enumerate(names)]
    daemons = tuple(ProcessSpec("daemon", name, ("daemon",), footprint=DAEMON) for name in names)
    work = ProcessSpec("work", names[0], ("work",), is_workload=True)
    return Plan(
        name="p",
        platform=star(hosts),
        hosts=tuple(HostSpec(name) for name in names),
        processes=(*daemons, work),
        kernel=KernelOptions(),
        working=working,
    )


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What this computer pretends to have."""
    free = dict(WIDE)
    for name in free:
        monkeypatch.setattr(limits, name, lambda name=name: Limit(free[name], f"limit of {name}"))
    return free


def test_needs_grow_with_the_hosts() -> None:
    small, large = needs_of(plan(10)), needs_of(plan(100))
    assert large.hosts == 100
    assert 8 * small.tasks > large.tasks > 300
    assert large.memory_bytes - small.memory_bytes > 90 * DAEMON.memory_bytes
    assert large.merged_bytes < large.memory_bytes - 90 * 3 * (1 << 20)
    assert small.merged_bytes <= small.memory_bytes


def test_a_host_takes_no_descriptor_of_the_server_for_its_control_socket() -> None:
    bare = [needs_of(replace(plan(count), processes=())) for count in (10, 1010)]
    assert bare[1].descriptors - bare[0].descriptors == 2200  # both ends of a connection each, and a tenth in reserve
    assert bare[1].files - bare[0].files == 3300  # the factory's end of the control socket counts among all of the computer's


def test_work_takes_more_than_waiting_for_it() -> None:
    idle, busy = needs_of(plan(10)), needs_of(plan(10, working=7))
    assert busy.memory_bytes > idle.memory_bytes + 7 * DAEMON.work_bytes
    assert busy.tasks >= idle.tasks + 63
    assert needs_of(plan(10, working=100)) == needs_of(plan(10, working=10))


def test_nothing_is_said_where_all_fits(computer: dict[str, int]) -> None:
    assert shortages(needs_of(plan(100)), Isolation.ROOT, merges=False) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("memory", ["GiB of memory", "merge_pages: yes"]),
        ("tasks", ["processes and threads", "sysctl -w kernel.pid_max=65536"]),
        ("descriptors", ["descriptors in the server", "raise that to"]),
        ("files", ["open files in all", "sysctl -w fs.file-max="]),
        ("namespaces", ["namespaces", "user.max_*_namespaces"]),
    ],
)
def test_each_shortage_is_one_line_with_numbers_and_remedy(computer: dict[str, int], name: str, words: list[str]) -> None:
    computer[name] = 7
    needs = needs_of(plan(100))
    (line,) = shortages(needs, Isolation.ROOT, merges=False)
    assert "\n" not in line
    assert f"limit of {name}" in line
    assert all(word in line for word in words), line
    with pytest.raises(SimunixError, match="capacity=warn"):
        check(needs, Isolation.ROOT, merges=False, refuses=True)
    assert check(needs, Isolation.ROOT, merges=False, refuses=False) == [line]


def test_the_advice_is_enough(computer: dict[str, int]) -> None:
    """Few processes need more descriptors that last than all that are counted one by one."""
    computer["descriptors"] = 7
    (line,) = shortages(needs_of(plan(2)), Isolation.ROOT, merges=False)
    needed, raised = (int(number.replace(",", "")) for number in re.findall(r"about ([\d,]+) .* to (\d+) or", line)[0])
    assert raised >= needed


def test_merging_lets_more_fit(computer: dict[str, int]) -> None:
    needs = needs_of(plan(2000))
    computer["memory"] = (needs.merged_bytes + needs.memory_bytes) // 2
    assert shortages(needs, Isolation.ROOT, merges=True) == []
    assert len(shortages(needs, Isolation.ROOT, merges=False)) == 1


def test_namespaces_that_are_not_made_are_not_counted(computer: dict[str, int]) -> None:
    computer["namespaces"] = 0
    assert shortages(needs_of(plan(10)), Isolation.NONE, merges=False) == []


def test_limits_of_this_computer_can_be_read() -> None:
    for limit in (limits.memory(), limits.tasks(), limits.descriptors(), limits.files(), limits.namespaces()):
        assert limit.free > 0
        assert limit.source


def test_a_control_group_may_be_the_narrowest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "CGROUPS", tmp_path)
    monkeypatch.setattr(limits, "_groups_of_this_process", lambda: "0::/user/shell\n")
    for folder, most in (("user", "100"), ("user/shell", "max")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pids.max").write_text(f"{most}\n")
        (tmp_path / folder / "pids.current").write_text("60\n")
    assert limits.tasks().free == 40
    assert "control group /user" in limits.tasks().source


def test_soft_limits_are_raised_as_far_as_they_go() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 200), hard))
        raise_open_files(min(hard, 300))
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(hard, 300), hard)
        raise_open_files(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(hard, 300)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Factory:
    """Takes note of what it is asked for; refuses if told to."""

    def __init__(self, error: str = "") -> None:
        self.asked: list[tuple[int, int]] = []
        self.error = error

    @property
    def factory(self) -> Factory:
        return self

    def merge_pages(self, pages: int, milliseconds: int) -> None:
        self.asked.append((pages, milliseconds))
        if self.error:
            raise SimunixError(self.error)


@pytest.mark.parametrize(("wanted", "count", "expected"), [("auto", 4, 0), ("auto", 4000, 1), ("yes", 4, 1), ("no", 4000, 0)])
def test_pages_are_merged_where_it_is_worth_it(wanted: str, count: int, expected: int) -> None:
    needs = replace(needs_of(plan(10)), memory_bytes=count << 20, merged_bytes=1 << 20)
    factory, said = Factory(), []
    assert merging.start_merging(wanted, needs, factory, said.append) == bool(expected)  # type: ignore[arg-type]
    assert (len(factory.asked), said) == (expected, [])


def test_what_merging_would_have_saved_is_said_in_one_line() -> None:
    needs = replace(needs_of(plan(10)), memory_bytes=40 * GIB, merged_bytes=10 * GIB)
    said: list[str] = []
    assert not merging.start_merging("auto", needs, Factory("cannot write run: Permission denied"), said.append)  # type: ignore[arg-type]
    (line,) = said
    assert "Permission denied" in line
    assert "save about 30.0 GiB of 40.0 GiB" in line


def test_starting_waits_for_room_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "ROOM_SHARE", 2.0)  # more than there is: never room enough
    monkeypatch.setattr(merging, "PATIENCE_S", 0.01)
    monkeypatch.setattr(merging, "LOOK_S", 0.001)
    room = merging.MemoryGate(lambda: False)
    room.wait()
    assert room.held_s >= 0.01
    given_up = merging.MemoryGate(lambda: True)
    given_up.wait()
    assert given_up.held_s < 0.01


def test_curie_at_its_full_size() -> None:
    path = Path(__file__).resolve().parents[4] / "scenarios" / "curie.yaml"
    expansion = expand(load(path, ()), path.parent, checked=False)
    (cluster,) = expansion.clusters
    assert (len(cluster.nodes), cluster.cores) == (5040, 80640)
    needs = needs_of(expansion.plan)
    assert 5 * GIB < needs.merged_bytes < 12 * GIB
    assert needs.memory_bytes > 40 * GIB
    assert 15_000 < needs.tasks < 25_000  # Linux has 32,768 unless told otherwise
    assert len(expansion.contexts) == 1
