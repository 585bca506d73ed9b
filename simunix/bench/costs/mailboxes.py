"""Messages through mailboxes: a ping-pong of two actors here and in SimGrid's own Python module, one script for both.

Of a short and of a long run the difference counts, so that starting costs nothing here. Unit: messages per second of CPU time
of all processes of the run, the server included, user and kernel (getrusage(2), the best of some runs); both run on one core.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from simunix.bench.context import SIMUNIX, Context, MeasurementError
from simunix.bench.row import Row, at_least, missing

REPEATS = 3
FEW, MANY, QUICK_MANY = 100, 5100, 1100
AIM = 10_000.0
SYSTEM_PYTHON = "/usr/bin/python3"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="one" speed="1Gf"/>
    <host id="two" speed="1Gf"/>
    <link id="cable" bandwidth="125MBps" latency="50us"/>
    <route src="one" dst="two"><link_ctn id="cable"/></route>
  </zone>
</platform>
"""
SCRIPT = """
import sys
if sys.argv[3] == "simgrid":
    from simgrid import Actor, Engine, Host, Mailbox
else:
    from simunix.rsg import Actor, Engine, Host, Mailbox

def ping(count):
    there, back = Mailbox.by_name("there"), Mailbox.by_name("back")
    for _ in range(count):
        there.put("x", 1)
        back.get()

def pong(count):
    there, back = Mailbox.by_name("there"), Mailbox.by_name("back")
    for _ in range(count):
        there.get()
        back.put("x", 1)

engine = Engine(sys.argv)
engine.load_platform(sys.argv[1])
Actor.create("ping", Host.by_name("one"), ping, int(sys.argv[2]) // 2)
Actor.create("pong", Host.by_name("two"), pong, int(sys.argv[2]) // 2)
engine.run()
"""


def mailboxes(context: Context) -> Iterator[Row]:
    """Rows of the ping-pong here and in SimGrid."""
    many = QUICK_MANY if context.is_quick else MANY
    with tempfile.TemporaryDirectory() as folder:
        platform, script = Path(folder, "platform.xml"), Path(folder, "script.py")
        platform.write_text(PLATFORM)
        script.write_text(SCRIPT)
        here = (*SIMUNIX, "rsg", "run", str(platform), "--", sys.executable, str(script), str(platform))
        yield Row("rsg-ping-pong", "messages between two actors", _per_second(here, "rsg", many), "/s", at_least(AIM))
        there = (SYSTEM_PYTHON, str(script), str(platform))
        text = "… of SimGrid's Python module"
        if subprocess.run([SYSTEM_PYTHON, "-c", "import simgrid"], capture_output=True, check=False).returncode:
            yield missing("simgrid-ping-pong", text, "python3-simgrid is not installed: apt install python3-simgrid")
        else:
            yield Row("simgrid-ping-pong", text, _per_second(there, "simgrid", many), "/s")


def _per_second(command: tuple[str, ...], module: str, many: int) -> float:
    few_s, many_s = (min(_cpu_s((*command, str(count), module)) for _ in range(REPEATS)) for count in (FEW, many))
    return (many - FEW) / max(many_s - few_s, 1e-9)


def _cpu_s(command: tuple[str, ...]) -> float:
    """CPU time of a command and its children, on the first core that this process may use."""
    core = min(os.sched_getaffinity(0))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    if done.returncode != 0:
        raise MeasurementError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-200:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
