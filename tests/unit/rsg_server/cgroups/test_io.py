"""io.max, io.weight and io.stat: what is taken, refused and told. The refusals are those of Linux (block/blk-throttle.c)."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.cgroups import io
from rsg_server.cgroups.control_file import RefusedError
from rsg_server.cgroups.group import NO_LIMIT
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.host import Host
from tests.unit.rsg_server.cgroups.test_hierarchy import Tree, tree_of
from tests.unit.rsg_server.fakes import fake

READ, WRITE = Direction.READ, Direction.WRITE
MB = 10**6
DISK = Disk("d", 100 * MB, 100 * MB, 200 * MB)
ALL_MAX = "rbps=max wbps=max riops=max wiops=max"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    host = Host("h0", (ip_address("10.0.0.1"),), disks=(DISK, DISK))
    with fake(hosts=(host,)) as world, tree_of(world, tmp_path) as made:
        made.make("a")
        yield made


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", errno.EINVAL),
        ("8:16", errno.EINVAL),  # no space behind the number
        ("8 :16 rbps=2", errno.EINVAL),
        ("sdb rbps=2", errno.EINVAL),
        ("9:16 rbps=2", errno.ENODEV),
        ("8:17 rbps=2", errno.ENODEV),
        ("8:48 ", errno.ENODEV),
        ("8:16 rbps", errno.EINVAL),
        ("8:16 rbps=", errno.EINVAL),
        ("8:16 rbps=-1", errno.EINVAL),
        ("8:16 rbps=maxi", errno.EINVAL),
        ("8:16 bps=2", errno.EINVAL),
        ("8:16 rbps=0", errno.ERANGE),
        ("8:16 rbps=1", errno.EINVAL),
        ("8:16 rbps=18446744073709551616", errno.ERANGE),
        ("8:16 wbps=5 rbps=x", errno.EINVAL),
    ],
)
def test_what_is_refused_changes_nothing(tree: Tree, text: str, error: int) -> None:
    actor = tree.world.born()
    assert tree.refusal("a/io.max", text, actor) == error
    assert tree.read("a/io.max") == ""


def test_limits_are_told_of_the_devices_that_have_some(tree: Tree) -> None:
    actor = tree.world.born()
    for text in ("8:32 wiops=120 rbps=5\n", " 8:16  rbps=7 rbps=1048576", "8:0 riops=18446744073709551614", "8:16 "):
        tree.write("a/io.max", text, actor)
    assert tree.read("a/io.max").splitlines() == [
        "8:0 rbps=max wbps=max riops=4294967295 wiops=max",
        "8:16 rbps=1048576 wbps=max riops=max wiops=max",
        "8:32 rbps=5 wbps=max riops=max wiops=120",
    ]
    tree.write("a/io.max", "8:16 rbps=max", actor)
    tree.write("a/io.max", f"8:0 {ALL_MAX}", actor)
    assert tree.read("a/io.max") == "8:32 rbps=5 wbps=max riops=max wiops=120\n"


limits = st.dictionaries(st.sampled_from(io.KEYS), st.none() | st.integers(2, 2**32 - 1))


@given(limits)
def test_what_is_written_is_what_is_read(wanted: dict[str, int | None]) -> None:
    text = " ".join(f"{key}={'max' if value is None else value}" for key, value in wanted.items())
    assert io.limits(text) == {key: NO_LIMIT if value is None else value for key, value in wanted.items()}


@given(st.text(alphabet="0123456789:= maxrbpswio\n\t-x", max_size=60))
def test_any_text_is_limits_or_refused_as_linux_may(text: str) -> None:
    try:
        device, rest = io.device_and_rest(text)
        found = io.limits(rest)
    except RefusedError as refused:
        error = refused.number
    else:
        error = 0
        assert text.split(":")[0].strip() == text[: text.index(":")].lstrip() and int(text.split(":")[0]) == device[0]
        assert all(key in io.KEYS and (value == NO_LIMIT or value > 1) for key, value in found.items())
    assert error in (0, errno.EINVAL, errno.ERANGE)


def test_a_limit_bounds_operations_and_they_are_counted_upwards(tree: Tree) -> None:
    world, storages = tree.world, tree.world.kernel.storages
    actor, host = world.born(), world.kernel.hosts["h0"].host
    below = tree.make("a/b")
    tree.write("a/cgroup.subtree_control", "+io", actor)
    tree.write("a/b/cgroup.procs", "0", actor)
    tree.write("a/io.max", "8:16 rbps=10000000", actor)
    tree.write("a/b/io.max", "8:16 rbps=3000000", actor)
    storages.users.account_of = lambda waiter: io.account_of(tree.hierarchy, below)
    storages.start(actor.number, host, 0, READ, MB, lambda: None)
    storages.start(9, host, 1, WRITE, MB, lambda: None)
    lines = [
        "8:16 rbytes=1000000 wbytes=0 rios=1 wios=0 dbytes=0 dios=0",
        "8:32 rbytes=0 wbytes=1000000 rios=0 wios=1 dbytes=0 dios=0",
    ]
    assert tree.read("a/io.stat").splitlines() == tree.read("a/b/io.stat").splitlines() == lines
    tree.make("a/b/c")
    tree.make("a/d")
    assert tree.read("a/d/io.stat") == "" and "io.stat" not in below.children["c"].files
    operation = storages.disks.legs[min(storages.disks.legs)].operation
    assert operation is not None and operation.path.alone == 3 * MB
    tree.write("a/cgroup.subtree_control", "-io", actor)  # the limit goes with the controller
    assert operation.path.alone == 10 * MB
    tree.write("a/cgroup.subtree_control", "+io", actor)
    assert tree.read("a/b/io.max") == tree.read("a/b/io.stat") == ""


def test_the_root_tells_what_its_disks_have_done(tree: Tree) -> None:
    storages, host = tree.world.kernel.storages, tree.world.kernel.hosts["h0"].host
    assert tree.read("io.stat") == "" and "io.max" not in tree.hierarchy.root.files
    storages.start(9, host, 1, WRITE, 0, lambda: None)
    for _ in range(2):
        moment = tree.world.kernel.timeline.next_ns
        if moment is not None:
            tree.world.kernel.timeline.run_due(moment)
    assert tree.read("io.stat") == "8:32 rbytes=0 wbytes=0 rios=0 wios=1 dbytes=0 dios=0\n"


def test_weights_are_kept(tree: Tree) -> None:
    actor = tree.world.born()
    assert tree.read("a/io.weight") == "default 100\n"
    for text in ("200", "default 300\n", "8:16 500", "8:32 7", "8:32 default"):
        tree.write("a/io.weight", text, actor)
    assert tree.read("a/io.weight") == "default 300\n8:16 500\n"
    refusals = {"0": errno.EINVAL, "10001": errno.EINVAL, "much": errno.EINVAL, "9:9 5": errno.ENODEV, "8:16 0": errno.EINVAL}
    assert {text: tree.refusal("a/io.weight", text, actor) for text in refusals} == refusals
