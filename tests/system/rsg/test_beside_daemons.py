"""Actors beside intercepted programs: a mailbox and a TCP socket of an unmodified daemon in one program."""

from __future__ import annotations

import sys

import pytest

from tests.needs import needs
from tests.system.rsg.running import HERE, PLATFORMS, run


@pytest.mark.slow
@needs("redis-server")
def test_an_actor_talks_to_redis_while_mailboxes_carry_gigabytes() -> None:
    told = run(PLATFORMS / "small_platform.xml", sys.executable, HERE / "programs/redis_beside.py").splitlines()
    assert [line.split(" at ")[0] for line in told] == [":1000", ":2000", ":3000", "$4 3000"]
    dates = [float(line.split(" at ")[1]) for line in told[:3]]
    assert dates == pytest.approx([301.3, 601.7, 902.0], abs=0.2)
