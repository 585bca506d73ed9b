"""An emulated login is entered in its host's records; this computer's are neither read nor changed."""

from __future__ import annotations

import os

import pytest

from simunix.launch import emulation as launch
from simunix.launch.factory.container import Isolation
from simunix.launch.view.login_records import RECORDS
from simunix.testing import Cluster, attempt

PRESENT = [record for record in RECORDS if os.path.exists(record)]
LOGIN = f"for f in {' '.join(PRESENT)}; do wc -c < $f; echo entered >> $f; wc -c < $f; done"

pytestmark = pytest.mark.skipif(not PRESENT, reason="this computer has no login records")


def enter_on_two_hosts(emulation: Cluster) -> None:
    """Every host starts with empty records and finds what it enters, and this computer's stay as they are."""
    before = [os.stat(record)[6:9] for record in PRESENT]  # size, times of access and change
    programs = [host.start(LOGIN) for host in emulation.hosts("a[1-2]")]
    emulation.run(check=True)
    assert [program.stdout.split() for program in programs] == [["0", "8"] * len(PRESENT)] * 2
    assert [os.stat(record)[6:9] for record in PRESENT] == before


def test_hosts_have_their_own(emulation: Cluster) -> None:
    enter_on_two_hosts(emulation)


def test_without_namespaces_too(emulation: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((launch, "probe"), (attempt, "isolation")):
        monkeypatch.setattr(module, name, lambda *_: (Isolation.NONE, "no namespaces here"))
    enter_on_two_hosts(emulation)


def test_a_private_path_has_its_own(emulation: Cluster) -> None:
    host = emulation.host("a", private=["/var/log"])
    program = host.start("ls /var/log; echo entered >> /var/log/wtmp")
    emulation.run(check=True)
    assert program.stdout == ""
    assert (emulation.output_folder("a") / "files/var_log/wtmp").read_text() == "entered\n"
