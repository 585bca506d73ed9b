"""The state of a host, and the command that a launcher gets."""

from __future__ import annotations

import pytest

from rsg_server.process.host_state import Command, HostState
from tests.unit.rsg_server.fakes import HOSTS, Fake


def test_a_host_is_called_as_in_the_platform() -> None:
    assert [HostState(host).name for host in HOSTS] == ["h0", "h1"]


def test_processes_of_two_hosts_are_apart(world: Fake) -> None:
    here, there = world.born("h0", pid=7), world.born("h1", pid=7)
    assert world.kernel.hosts["h0"].processes == {7: here.process}
    assert world.kernel.hosts["h1"].processes == {7: there.process}


def test_births_are_counted_from_their_announcement_on(world: Fake) -> None:
    state = world.kernel.hosts["h0"]
    world.kernel.births.new_process(state, None, "/bin/fake")
    assert (state.births, state.processes) == (1, {})


def test_a_command_is_written_by_name() -> None:
    with pytest.raises(TypeError):
        Command(("true",), {}, "/", 0, 1, 2)  # type: ignore[misc]
    command = Command(argv=("true",), environment={}, directory="/", stdin=0, stdout=1, stderr=2)
    assert (command.user, command.label, command.foreground) == (None, "", False)
