"""What the processor of a host is told of the executions by name there."""

from __future__ import annotations

from rsg_server._native import lib

from tests.unit.rsg_server.fakes import fake
from tests.unit.rsg_server.rsg.driver import HOST, Program


def test_an_execution_that_is_suspended_uses_no_core() -> None:
    with fake(hosts=(HOST,)) as made:
        used: list[float] = []
        made.kernel.cpu.on_load = lambda host, cores: used.append(cores)
        program = Program(made)
        one, other = program.made(10, lib.RSG_ASYNC), program.made(10, lib.RSG_ASYNC)
        assert used[-1] == 2
        program.ask(lib.RSG_HOLD, "qq", one, 1)
        assert used[-1] == 1
        program.wait(other)
        assert used[-1] == 0
        program.ask(lib.RSG_HOLD, "qq", one, 0)
        assert used[-1] == 1
        program.wait(one)
        assert used[-1] == 0 and program.date_s == 20
