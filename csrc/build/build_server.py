"""Compiles the hot modules of `rsg_server` with mypyc into one library. Called by setup.py, or by hand.

    python csrc/build/build_server.py        rebuild in place if a module has changed

The Python is the source of truth: which form runs is decided when the package is imported (rsg_server/compiled.py), and a
library that was not built from the very modules that are there is left alone. Without a compiler, or with SIMUNIX_PURE set,
nothing is built, and the modules are interpreted.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rsg_server"
KEPT = ROOT / "build/server"
"""Libraries of the last builds by the checksum of what went into them: to change a module and back compiles nothing."""
KEPT_MOST = 4
NAME = "rsg_server__mypyc"
"""The module in which mypyc keeps the functions that make the modules."""
HOT = {
    ".": ("event_log", "kernel", "messages", "observers", "order", "protocol", "warner"),
    "cgroups": (
        *("cgroups", "control_file", "controlled", "core_files", "cpu", "cpuset", "freezer", "group", "hierarchy", "io"),
        *("memory", "memory_files", "news", "pids", "real_files"),
    ),
    "clock": ("timeline", "timer_queue"),
    "fd_store": ("store",),
    "handlers": ("futex", "hello", "process", "readiness", "rsg", "signals", "sockets", "table", "wait"),
    "handlers/kernel_objects": ("cgroups",),
    "network": ("datagram_queue", "engine", "flow", "models", "network", "sharing", "usage"),
    "platform": ("host", "link", "platform"),
    "process": (
        *("actor", "channel_pool", "cpu", "cpu_timers", "futex", "host_state", "parking", "process", "run_queue"),
        *("signals", "slots", "wait"),
    ),
    "process/life": ("births", "deaths", "endings", "programs", "relatives", "remains", "threads", "vforks", "zombies"),
    "rsg": (
        *("activity", "actor", "communications", "cores", "disks", "errors", "lives", "mailbox", "moments", "places", "room"),
        *("synchro", "tasks"),
    ),
    "rsg/operations": ("activities", "actors", "answers", "disks", "synchronisation", "table"),
    "processor": ("accounts", "charges", "load", "overload", "recording", "shares", "sharing"),
    "shared": (
        *("boxes", "clock", "counters", "deadlines", "devices", "memory", "notices", "prices", "slots"),
        *("outbox", "streams", "turn_words"),
    ),
    "sockets": ("binding", "handshake", "pair", "ports", "reachability", "retransmission", "stream", "table", "wire"),
    "sockets/kinds": ("datagram", "netlink", "stream"),
    "waits": (
        *("compute", "connect", "descriptors", "file_lock", "futex", "futex_spaces", "processes", "rsg", "storage", "table"),
        "time",
    ),
    "turn": ("answers", "births", "clock_guard", "core", "failures", "listener", "loop", "preemption", "readiness", "wakeups"),
}
"""By folder, the modules that are compiled: what a turn, a birth or a message runs. The others run seldom, and each costs a
second to compile; benchmarks/results/2026-11-23-compiled-server.md has the figures."""
FLAGS = ["-O1", "-g0", "-fPIC", "-w"]


class BuildError(Exception):
    """A compiler has failed; the text has its messages."""


def modules() -> list[str]:
    """The files to compile, relative to the package, in order."""
    return [str(Path(folder, f"{name}.py")) for folder, names in HOT.items() for name in names]


def suffix() -> str:
    """How a library of this Python ends, such as `.cpython-311-x86_64-linux-gnu.so`."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def why_not(compiler: str) -> str | None:
    """Why nothing can be compiled; None if it can."""
    if os.environ.get("SIMUNIX_PURE"):
        return "SIMUNIX_PURE is set"
    if shutil.which(compiler) is None:
        return f"no compiler ({compiler})"
    if importlib.util.find_spec("mypyc") is None:
        return "no mypyc; it comes with mypy"
    return None


def key_of(compiler: str) -> str:
    """The checksum of everything that decides what the library is like."""
    from mypy.version import __version__

    digest = hashlib.sha256(repr((__version__, suffix(), sys.version, compiler, FLAGS, modules())).encode())
    for path in [*sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "csrc/compiled").iterdir()), Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def manifest() -> str:
    """What the library was built from: of each module the size, the time of its last change, and the checksum."""
    files = {}
    for name in modules():
        path = PACKAGE / name
        files[name] = [path.stat().st_size, path.stat().st_mtime_ns, importlib.util.source_hash(path.read_bytes()).hex()]
    return json.dumps({"library": f"_compiled{suffix()}", "files": files}, indent=0) + "\n"


def build_server(folder: Path, compiler: str = "gcc") -> bool:
    """Build `_compiled.*.so` and `_compiled.json` in the folder of the package; False, and why is said, if that cannot be."""
    for old in folder.glob("_compiled.*"):
        if old.suffix == ".json":
            old.unlink()
    reason = why_not(compiler)
    if reason is not None:
        print(f"rsg_server is not compiled: {reason}; it will be interpreted")
        return False
    kept = KEPT / f"{key_of(compiler)}.so"
    if not kept.exists():
        try:
            compile_library(kept, compiler)
        except BuildError as error:
            print(f"{error}\nrsg_server is not compiled, for the reason above; it will be interpreted")
            return False
    kept.touch()
    for old in sorted(KEPT.glob("*.so"), key=lambda path: path.stat().st_mtime)[:-KEPT_MOST]:
        old.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / "_compiled.new"
    shutil.copyfile(kept, fresh)
    fresh.replace(folder / f"_compiled{suffix()}")  # whole at once: running servers have the old one mapped
    (folder / "_compiled.json").write_text(manifest())
    return True


def compile_library(target: Path, compiler: str) -> None:
    """Translate the modules into C, compile on all processors, and link."""
    scratch = target.with_suffix(".c")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        print(f"translating {len(modules())} modules into C", flush=True)
        run([sys.executable, __file__, "--translate", str(scratch)])
        sources = [*sorted(scratch.glob("*.c")), *sorted((ROOT / "csrc/compiled").glob("*.c"))]
        sources.sort(key=lambda path: -path.stat().st_size)  # the longest first: none is left alone at the end
        includes = [f"-I{path}" for path in (sysconfig.get_path("include"), runtime(), scratch)]
        objects = [scratch / f"{source.name}.o" for source in sources]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = pool.map(
                lambda pair: run([compiler, *FLAGS, *includes, "-c", str(pair[0]), "-o", str(pair[1])]),
                zip(sources, objects, strict=True),
            )
            for count, _ in enumerate(done, 1):
                print(f"compiled {count} of {len(sources)} files", flush=True)
        fresh = target.with_suffix(".new")
        run([compiler, "-shared", "-s", *map(str, objects), "-o", str(fresh)])
        fresh.replace(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def runtime() -> Path:
    """The folder of mypyc's own C."""
    import mypyc

    return Path(mypyc.__file__).parent / "lib-rt"


def translate(folder: str) -> None:
    """Write the C of the modules into a folder; mypyc ends the process if a module cannot be compiled."""
    from mypyc.build import mypycify

    os.chdir(ROOT)
    files = [f"rsg_server/{name}" for name in modules()]
    mypycify(files, multi_file=True, group_name=NAME.removesuffix("__mypyc"), target_dir=folder)


def run(command: list[str]) -> None:
    """Run a compiler. Raises BuildError with its messages."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise BuildError(f"{done.stdout}build failed: {' '.join(command)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--translate"]:
        translate(sys.argv[2])
    elif not build_server(PACKAGE):
        raise SystemExit(1)
