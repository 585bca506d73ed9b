"""MPICH's ranks poll without waiting: they must neither stop the clock nor keep the turn. Both runs leave the same event log.

Over sockets every look of a rank is a call (of epoll, or of the time stamp counter, which is trapped), so that it needs no
preemption. Ranks of one host that share memory spin there without any call and are preempted; since they only look, the logs
are the same nevertheless. Were a rank preempted while it computes, they might differ.

MPI_Finalize of MPICH 4.0 over UCX can hang on any computer: a rank disconnects from each other one, which must answer, and
then waits in a barrier where it answers nobody (removed by MPICH's pull request 6596). So the program sees to it that every
rank needs an answer from every other one on another host, and that nobody looks for messages, and so answers, before it has
asked all of them: hence the last exchange, and the second of sleep.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.system.programs.conftest import Needs, RunTwice
from tests.system.programs.test_ssh import write_keys

pytestmark = pytest.mark.slow

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char large[200000];
    char host[64];
    int rank, size, sum, other;
    double start;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int token = -1, round = 0; round < 3 && size > 1; round++) { /* a ring */
        if (rank == 0)
            MPI_Send(&round, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0)
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        if (token != round)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int root = 0; root < size; root++)
        MPI_Bcast(large, sizeof large, MPI_CHAR, root, MPI_COMM_WORLD);
    for (int away = 1; away < size; away++) /* everybody with everybody */
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + away) % size, 0, &other, 1, MPI_INT, (rank + size - away) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start = MPI_Wtime();
    if (rank == 1)
        usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
    gethostname(host, sizeof host);
    printf("rank %d of %d on %s: sum %d, waited %.2f s\n", rank, size, host, sum, MPI_Wtime() - start);
    sleep(1);
    MPI_Finalize();
    return 0;
}
"""
SCENARIO = """
name: mpich
hosts: [{name: 'n[1-4]', cores: 2}]
network: {bandwidth: 10Gbps, latency: 10us}
stop: time
preempt_after: 200ms
until: 9s
processes:
  - {name: mpiexec, host: n1, start: 5s, command: "TRANSPORT mpiexec.mpich ARGUMENTS FOLDER/ranks; echo ended $?"}
"""
SSHD = """
  - {name: sshd, host: 'n[1-4]', command: "mkdir -p /run/sshd; exec /usr/sbin/sshd -D -e -f FOLDER/sshd_config"}
"""
REMOTE = """#!/bin/sh
exec ssh -i FOLDER/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "$@"
"""
SOCKETS_ONLY = "MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self"
ALL_TRANSPORTS = ""


def compile_program(folder: Path) -> None:
    """The MPI program, as folder/ranks."""
    (folder / "ranks.c").write_text(PROGRAM)
    subprocess.run(["mpicc.mpich", "-O1", "-o", folder / "ranks", folder / "ranks.c"], check=True)


def ranks(output: str) -> list[tuple[str, ...]]:
    """(rank, size, host, sum) of each line, by rank; all have waited for the last."""
    found = sorted(re.findall(r"rank (\d) of (\d) on (\w+): sum (\d+), waited ([\d.]+) s", output))
    assert all(float(waited) >= 0.02 for *_, waited in found)
    return [tuple(rest) for *rest, _ in found]


@pytest.mark.parametrize("transport", [SOCKETS_ONLY, ALL_TRANSPORTS])
def test_two_ranks_on_one_host(transport: str, needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("mpiexec.mpich", "mpicc.mpich")
    compile_program(tmp_path)
    scenario = SCENARIO.replace("ARGUMENTS", "-n 2").replace("TRANSPORT", transport)
    told = run_twice(scenario.replace("FOLDER", str(tmp_path))).everything("n1", "mpiexec")
    assert "ended 0" in told, told
    assert ranks(told) == [(str(rank), "2", "n1", "1") for rank in range(2)]


@pytest.mark.parametrize("transport", [SOCKETS_ONLY, ALL_TRANSPORTS])
def test_eight_ranks_on_four_hosts(transport: str, needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("mpiexec.mpich", "mpicc.mpich", "ssh", "/usr/sbin/sshd")
    compile_program(tmp_path)
    write_keys(tmp_path)
    (tmp_path / "remote").write_text(REMOTE.replace("FOLDER", str(tmp_path)))
    (tmp_path / "remote").chmod(0o755)
    arguments = "-launcher ssh -launcher-exec FOLDER/remote -hosts n1:2,n2:2,n3:2,n4:2 -n 8"
    scenario = SCENARIO.replace("ARGUMENTS", arguments).replace("TRANSPORT", transport) + SSHD
    told = run_twice(scenario.replace("FOLDER", str(tmp_path))).everything("n1", "mpiexec")
    assert "ended 0" in told, told
    assert ranks(told) == [(str(rank), "8", f"n{rank // 2 + 1}", "28") for rank in range(8)]
