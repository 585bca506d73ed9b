"""munged runs where Slurm's configuration wants it, as it does by default."""

from __future__ import annotations

import pytest

from simunix.rjms.slurm.daemons import uses_munge
from simunix.rjms.slurm.own_configuration import read_settings


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ("", True),
        ("AuthType=auth/munge\nCredType=cred/munge", True),
        ("AuthType=auth/none", True),  # credentials are munge's still
        ("CredType=cred/none", True),
        ("AuthType=auth/none\nCredType=cred/none", False),
        ("authtype = none # as newer ones say\nCREDTYPE=none", False),
        ("AuthType=munge\nCredType=none", True),
    ],
)
def test_who_wants_munged(conf: str, expected: bool) -> None:
    assert uses_munge(read_settings(conf)) is expected
