"""How full a storage is, and how many bytes a writer may still write."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest

from rsg_server.platform.disk import Disk
from rsg_server.protocol import Op, Storage
from rsg_server.storage.room import BLOCK_BYTES, Room, used_bytes
from tests.unit.rsg_server.fakes import fake
from tests.unit.rsg_server.storage.test_storages import HOST


def test_files_take_whole_blocks_and_count_once(tmp_path: Path) -> None:
    folder, other = tmp_path / "a", tmp_path / "b"
    (folder / "deep/er").mkdir(parents=True)
    other.mkdir()
    (folder / "empty").touch()
    (folder / "byte").write_bytes(b"x")
    (folder / "deep/er/block").write_bytes(bytes(BLOCK_BYTES))
    os.link(folder / "deep/er/block", folder / "again")
    (folder / "link").symlink_to("byte")
    os.mkfifo(folder / "fifo")
    (other / "hole").touch()
    os.truncate(other / "hole", 3 * BLOCK_BYTES - 1)
    assert used_bytes([folder]) == 2 * BLOCK_BYTES
    assert used_bytes([folder, other]) == 5 * BLOCK_BYTES
    assert used_bytes([tmp_path / "none"]) == 0


def test_a_writer_gets_what_is_free(tmp_path: Path) -> None:
    room = Room(10 * BLOCK_BYTES + 1)
    room.folders.append(tmp_path)
    assert room.take(4 * BLOCK_BYTES) == 4 * BLOCK_BYTES
    assert room.take(7 * BLOCK_BYTES) == 7 * BLOCK_BYTES, "nothing was written: on a second look the storage is empty"
    (tmp_path / "f").write_bytes(bytes(8 * BLOCK_BYTES))
    assert room.look() == 8 * BLOCK_BYTES
    assert room.take(BLOCK_BYTES) == BLOCK_BYTES
    assert room.take(3 * BLOCK_BYTES) == 2 * BLOCK_BYTES
    (tmp_path / "f").write_bytes(bytes(10 * BLOCK_BYTES))
    assert room.take(1) == 0
    (tmp_path / "f").unlink()
    assert room.take(1) == 1


@pytest.mark.parametrize(("capacity", "answer"), [(None, (0, 5000, -1, 0)), (4096, (0, 4096, -1, 0))])
def test_the_answer_to_a_writer(tmp_path: Path, capacity: int | None, answer: tuple[int, ...]) -> None:
    host = replace(HOST, disks=(Disk("d", 1e6, 1e6, capacity_bytes=capacity),))
    with fake(hosts=[host]) as world:
        world.kernel.storages.keep(host, 0, tmp_path)
        assert world.send(world.born(), msgpack.packb([int(Op.STORAGE), int(Storage.ROOM), 0, 1, 0, 5000, 0])) == answer


def test_the_answer_to_statfs(tmp_path: Path) -> None:
    host = replace(HOST, disks=(Disk("d", 1e6, 1e6, capacity_bytes=10**6),))
    (tmp_path / "f").write_bytes(b"x")
    with fake(hosts=[host]) as world:
        world.kernel.storages.keep(host, 0, tmp_path)
        assert world.send(world.born(), msgpack.packb([int(Op.STORAGE), int(Storage.ROOM), 0, 0, 0, 0, 0])) == (
            0,
            10**6 - 4096,
            10**6,
            4096,
        )
