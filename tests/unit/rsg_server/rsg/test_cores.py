"""The processor of a host learns how many cores the executions of Remote SimGrid use."""

from __future__ import annotations

from dataclasses import replace

from rsg_server._native import lib

from rsg_server.rsg.errors import Code
from tests.unit.rsg_server.fakes import fake
from tests.unit.rsg_server.rsg.driver import HOST, Program


def test_an_execution_that_is_suspended_uses_no_core() -> None:
    with fake(hosts=(HOST,)) as made:
        used: list[float] = []
        made.kernel.cpu.on_load.connect(lambda host, cores: used.append(cores))
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


def test_an_execution_on_a_host_of_speed_0_is_refused() -> None:
    with fake(hosts=(replace(HOST, speeds_flops=(0.0,)),)) as made:
        program = Program(made)
        code, _ = program.ask(lib.RSG_EXECUTE, "qqddd", -1, 0, 10.0, 1.0, 0.0)
        assert code is Code.NO_SPEED
