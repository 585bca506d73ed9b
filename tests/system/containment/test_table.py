"""The table in docs/guide/hosts.md of what root of a host may do: a contained host and a privileged one run each line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from simunix.launch.factory.container import Isolation
from simunix.launch.factory.probe import probe
from tests.conftest import Simunix
from tests.system.runs import run

PAGE = Path(__file__).resolve().parents[3] / "docs/guide/hosts.md"
ROW = re.compile(r"^\| `(.+)` \| (yes|no) \| (yes|no) \|$", re.MULTILINE)
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or probe((Path("/tmp"),))[0] is not Isolation.CONTAINED,
    reason="only root's hosts are contained, and only where the kernel can map owners of files",
)
EACH = """
import subprocess, sys
for command in open(sys.argv[1]).read().splitlines():
    whole = "mount --make-rprivate / && (set -e; " + command + ")"
    status = subprocess.run(["unshare", "-m", "sh", "-c", whole], stdout=subprocess.DEVNULL).returncode
    print("yes" if status == 0 else "no", flush=True)
"""


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text())


def test_root_may_do_what_the_guide_says(simunix: Simunix, tmp_path: Path) -> None:
    assert len(rows()) > 20
    (tmp_path / "commands").write_text("".join(f"{command}\n" for command, _, _ in rows()))
    (tmp_path / "each.py").write_text(EACH)
    (tmp_path / "table.yaml").write_text(
        "name: table\n"
        "hosts: [{name: contained}, {name: privileged, privileged: true}]\n"
        f"processes: [{{name: p, host: 'contained,privileged', command: python3 {tmp_path}/each.py {tmp_path}/commands}}]\n"
    )
    done = run(simunix, tmp_path / "table.yaml", tmp_path / "out")
    found = [done.output(host, "p").split() for host in ("contained", "privileged")]
    assert list(zip([command for command, _, _ in rows()], *found, strict=True)) == rows()
    assert (done.record["isolation"], done.record["privileged"]) == ("contained", "privileged")
