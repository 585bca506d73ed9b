"""A kernel without real processes for each test that asks for `world`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.rsg_server.fakes import Fake, fake


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made
