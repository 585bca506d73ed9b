"""`python -m tests.conformance.cpython`: run CPython's tests natively and emulated, file by file, compare, and write the page.

Results are kept per file and side (--results), so that a run can be taken up again with --again for some files only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tests.conformance.known import Known, differences, outdated
from tests.conformance.page import Row, page
from tests.conformance.runner import PACKAGE, PYTHON, missing, run_files
from tests.conformance.verdicts import Run

FIRST = ("test_time", "test_threading", "test_subprocess", "test_signal", "test_select", "test_socket")
"""What touches time, processes, signals and sockets most: always run in CI."""
MORE = (
    "asynchat asyncio asyncore concurrent_futures epoll eintr fcntl fork1 ftplib httplib httpservers imaplib io ioctl kqueue "
    "logging mailbox mmap multiprocessing_fork multiprocessing_forkserver multiprocessing_spawn nntplib openpty os pipes poll "
    "popen poplib posix pty queue random sched selectors shelve smtpd smtplib socketserver ssl sys telnetlib tempfile thread "
    "threadedtempfile threading_local timeout urllib2_localnet uuid wait3 wait4 xmlrpc zipfile"
)
FILES = (*FIRST, *(f"test_{name}" for name in MORE.split()))
LIMIT_S = 300.0
SHOWN = 20
"""Differences of a file that are printed when nobody has explained them; the page has all."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.cpython", description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES, help="files of the suite, e.g. test_socket (default: all of ours)")
    parser.add_argument("--results", type=Path, default=Path("out/conformance"), help="folder of results (%(default)s)")
    parser.add_argument("--again", choices=("both", "emulated", "none"), default="both", help="sides to run although known")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S", help="wall time for each file and side")
    parser.add_argument("--page", type=Path, help="write the table here")
    return parser.parse_args(arguments)


def result(options: argparse.Namespace, file: str, emulated: bool, known: Known) -> Run:
    """Run one side of a file, or take what is known of it."""
    side = "emulated" if emulated else "native"
    path = options.results / side / f"{file}.json"
    if path.exists() and (options.again == "none" or (options.again == "emulated" and not emulated)):
        return Run.load(path)
    run = run_files((file,), emulated, options.limit, known, options.results / side / f"{file}.log")
    run.save(path)
    return run


def main(arguments: list[str] | None = None) -> int:
    """0 if every difference is known and none has vanished."""
    options = parse(arguments)
    reason = missing()
    if reason:
        print(f"conformance: {reason}", file=sys.stderr)
        return 2
    known = Known.read()
    rows = []
    for file in options.files:
        native, emulated = result(options, file, False, known), result(options, file, True, known)
        rows.append(Row(file, native, emulated, differences(native.verdicts, emulated.verdicts, known)))
        new = [str(difference) for difference in rows[-1].differences if not difference.why]
        print(f"{file}: {rows[-1].tests} tests, {len(rows[-1].differences)} differ, {len(new)} not explained", flush=True)
        print("".join(f"    {line}\n" for line in new[:SHOWN]), end="", flush=True)
    found = [difference for row in rows for difference in row.differences]
    vanished = outdated(found, set(options.files), known)
    print("".join(f"known.yaml: {pattern}: differs no more\n" for pattern in vanished), end="")
    if options.page is not None:
        version = subprocess.run([PYTHON, "-V"], capture_output=True, text=True, check=True).stdout.split()[-1]
        options.page.write_text(page(rows, known, version, PACKAGE))
    return int(bool(vanished) or any(not difference.why for difference in found))


if __name__ == "__main__":
    sys.exit(main())
