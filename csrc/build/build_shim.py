"""Builds the C of this project: preload library, hosts' init, job program, bus, cffi module. Called by setup.py or by hand.

    python csrc/build/build_shim.py        rebuild in place what has changed

The same sources serve twice: the shim (no libc, preloaded) and `rsg_server._native` (for Python and the tests). The numbers of
the wire are read from protocol.h itself, so there is no second copy.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CSRC = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CSRC / "build"))

import message_table  # noqa: E402
import syscall_table  # noqa: E402

ROOT = CSRC.parent
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
SHIM_FLAGS = [
    "-std=gnu11",
    "-O2",
    "-g",
    *WARNINGS,
    "-fPIC",
    "-ffreestanding",  # no libc: one file works in every glibc
    "-fno-stack-protector",  # the canary lives in libc's thread block
    "-fvisibility=hidden",  # exports nothing but what a file marks
    "-fcf-protection=none",
    "-mgeneral-regs-only",  # the application's vector registers are not ours to touch
    "-fno-omit-frame-pointer",
    "-fasynchronous-unwind-tables",  # cancellation and gdb unwind through handlers
    "-fno-tree-loop-distribute-patterns",  # or memcpy would be compiled into a call of itself
    "-ffunction-sections",  # what only the server uses of csrc/shared is left out, see --gc-sections below
    "-fdata-sections",
    "-fno-align-loops",  # the library is to fit into SPAN_BYTES
    "-fno-align-jumps",
]
SHIM_LINK = [
    "-shared",
    "-nostdlib",
    "-Wl,-z,now",
    "-Wl,-z,defs",  # an undefined symbol is an error here, not in somebody's process
    "-Wl,-z,initfirst",  # our constructor runs before all others
    "-Wl,-z,separate-code",  # the executable segment holds our system calls and nothing else
    "-Wl,--gc-sections",
    "-Wl,--sort-section=alignment",  # no gap before what fills a page: the library is to fit into SPAN_BYTES
    "-Wl,-e,injected_entry",  # where hosts' inits have programs begin that no loader brings the library into
    "-Wl,--build-id",
]
SPAN_BYTES = 0x70000
"""How much address space the library takes. All that a program maps lies below the library, and some allocators align what they
get by further calls, which the event log has: another span may give other event logs. `span.ld` fills the span up."""
SELDOM = (
    "pids",
    "strace",
    "sys/cgroup",
    "sys/device",
    "sys/numa",
    "sys/procfs",
    "sys/process",
    "sys/rsg",
    "sys/signal",
    "sys/socket",
)
"""Rooms of the shim whose calls cost far more than their code: they are compiled for size, to stay within SPAN_BYTES."""
INCLUDE = f"-I{CSRC}"  # includes name the room: "shim/core/core.h"
SHIM_ROOMS = ("shared", "shim")
PROTOCOL = (*(f"wire/{name}_protocol" for name in ("cpu", "file", "outbox", "rsg", "socket", "storage")), "protocol")
EXPOSED = (
    *("shared/msgpack", "shared/syscall_names", "shared/slots", "shared/timer_queue", "shared/tsc", "shared/watch"),
    "server/control_files",
    *(f"turn/waits/{name}" for name in ("actor", "run_queue", "timeline", "futex_queues", "parking", "futexes")),
    *(f"turn/{name}" for name in ("readiness", "turn_log", "core", "due", "handoffs", "listener", "loop")),
)
"""Headers of which the server gets what they mark, in the order in which they need each other."""


def newer(target: Path, sources: list[Path]) -> bool:
    """Whether the target exists and no source has changed since."""
    return target.exists() and all(source.stat().st_mtime <= target.stat().st_mtime for source in sources)


def run(command: list[str]) -> None:
    """Run a compiler; its own messages are the error."""
    if subprocess.run(command, check=False).returncode != 0:
        raise SystemExit(f"build failed: {' '.join(command)}")


def build_shim(target: Path, compiler: str = "gcc") -> None:
    """Compile csrc/shim and csrc/shared into the preload library, readable by every user of an emulated host."""
    sources = sorted(path for room in SHIM_ROOMS for kind in ("*.c", "*.S") for path in (CSRC / room).rglob(kind))
    headers = [path for room in (*SHIM_ROOMS, "tables") for kind in ("*.h", "*.def") for path in (CSRC / room).rglob(kind)]
    script = CSRC / "build/span.ld"
    depends = [*sources, *headers, script, Path(__file__)]
    build_table(target.with_name("syscalls.json"), compiler)
    if newer(target, depends):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        for source in sources:
            objects.append(f"{scratch}/{str(source.relative_to(CSRC)).replace('/', '.')}.o")
            size = ["-Os"] if source.parent in [CSRC / "shim" / room for room in SELDOM] else []
            run([compiler, *SHIM_FLAGS, *size, INCLUDE, "-c", str(source), "-o", objects[-1]])
        span = [f"-Wl,--defsym=SPAN_BYTES={SPAN_BYTES}", f"-Wl,-T,{script}"]
        run([compiler, *SHIM_LINK, *span, *objects, "-o", f"{scratch}/library"])
        fresh = target.with_suffix(".new")
        shutil.copyfile(f"{scratch}/library", fresh)
    fresh.chmod(0o644)
    fresh.replace(target)  # whole at once: emulations that are running keep the file that they have mapped


def build_table(target: Path, compiler: str = "gcc") -> None:
    """Check that no system call is missing from syscalls.def, and write the table for the package."""
    try:
        syscall_table.write_json(target, compiler)
    except syscall_table.TableError as error:
        raise SystemExit(f"build failed: {error}") from None


def build_init(target: Path, compiler: str = "gcc") -> None:
    """Compile csrc/hostinit, an ordinary program that is never emulated."""
    sources = sorted((CSRC / "hostinit").rglob("*.c"))
    if newer(target, [*sources, *(CSRC / "hostinit").glob("*.h")]):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    run([compiler, "-std=gnu11", "-O2", "-g", *WARNINGS, *map(str, sources), "-o", str(target)])


def build_job(target: Path, compiler: str = "gcc") -> None:
    """Compile csrc/jobs/*.c: an ordinary program that is emulated, in any Debian that a host runs (see start.c)."""
    sources = sorted((CSRC / "jobs").glob("*.c"))
    if newer(target, [*sources, *(CSRC / "jobs").glob("*.h"), CSRC / "shared/prctl_options.h"]):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", *WARNINGS, "-fPIE", "-pie", "-nostartfiles", INCLUDE]
    run([compiler, *flags, *map(str, sources), "-o", str(target)])


def build_bus(target: Path, compiler: str = "gcc") -> None:
    """Compile csrc/bus/*.c: the system bus of a host, for any Debian, as the job program; small, as each host has its own."""
    sources = [*sorted((CSRC / "bus").glob("*.c")), CSRC / "jobs/start.c"]
    if newer(target, [*sources, CSRC / "bus/bus.h"]):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-Os", "-s", *WARNINGS, "-fPIE", "-pie", "-nostartfiles", INCLUDE]
    run([compiler, *flags, *map(str, sources), "-o", str(target)])


def build_rsg(target: Path, compiler: str = "gcc") -> None:
    """Compile csrc/rsg/*.c into librsg, for programs in C and C++ that name the simulation; its headers go beside it."""
    install_headers(target.parent / "include")
    sources = sorted((CSRC / "rsg").glob("*.c"))
    if newer(target, [*sources, *(CSRC / "rsg").glob("*.h"), CSRC / "shared/wire/rsg_protocol.h"]):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=gnu11", "-O2", "-g", *WARNINGS, "-fPIC", "-shared", "-pthread", "-Wl,-soname,librsg.so", INCLUDE]
    run([compiler, *flags, *map(str, sources), "-o", str(target)])


def install_headers(folder: Path) -> None:
    """Copy the headers of librsg, for C and C++, into a folder that is named by one -I."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(CSRC / "rsg/include", folder)
    for header in ("rsg/rsg.h", "shared/wire/rsg_protocol.h"):
        shutil.copy(CSRC / header, folder)


def rsg_builder() -> object:
    """The cffi module `simunix.rsg._librsg`, which has librsg in it."""
    from cffi import FFI

    header = (CSRC / "rsg/rsg.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", header.split("/* cffi: begin */")[1].split("/* cffi: end */")[0], flags=re.DOTALL)
    errors = re.sub(r"/\*.*?\*/", "", (CSRC / "shared/wire/rsg_protocol.h").read_text(), flags=re.DOTALL)
    enums = re.findall(r"^enum \w+ \{.*?\};", errors, flags=re.DOTALL | re.MULTILINE)
    builder = FFI()
    builder.cdef("\n".join([*enums, text, "void free(void *);"]))
    builder.set_source(
        "simunix.rsg._librsg",
        '#include "rsg/rsg.h"\n#include "shared/wire/rsg_protocol.h"\n#include <stdlib.h>\n',
        sources=[f"csrc/rsg/{path.name}" for path in sorted((CSRC / "rsg").glob("*.c"))],
        include_dirs=["csrc", "csrc/rsg"],
        depends=["csrc/rsg/rsg.h", "csrc/rsg/request.h", "csrc/shared/wire/rsg_protocol.h"],
    )
    return builder


def declarations() -> str:
    """What cffi is told: all of the protocol's headers, and the blocks that the exposed headers mark for it."""
    protocol = message_table.for_cffi("".join((CSRC / f"shared/{name}.h").read_text() for name in PROTOCOL))
    text = re.sub(r"/\*.*?\*/", "", protocol, flags=re.DOTALL)
    kept = [line for line in text.splitlines() if not line.startswith("#") or re.match(r"#define \w+ \d+\s*$", line)]
    blocks = ["\n".join(kept)]
    for name in EXPOSED:
        header = (CSRC / f"{name}.h").read_text()
        block = header.split("/* cffi: begin */")[1].split("/* cffi: end */")[0]
        blocks.append(re.sub(r"/\*.*?\*/", "", block, flags=re.DOTALL))
    return "\n".join(blocks)


def native_sources() -> list[str]:
    """The C of the server: what it shares with the shim, and all of the core."""
    shared = [CSRC / f"{name}.c" for name in EXPOSED if not name.startswith("turn/")]
    return [str(path.relative_to(ROOT)) for path in (*shared, *sorted((CSRC / "turn").rglob("*.c")))]


def ffi_builder() -> object:
    """The cffi module `rsg_server._native`."""
    from cffi import FFI

    builder = FFI()
    builder.cdef(declarations())
    builder.set_source(
        "rsg_server._native",
        "".join(f'#include "{name}.h"\n' for name in ("shared/protocol", *EXPOSED)),
        sources=native_sources(),
        include_dirs=["csrc"],
        extra_compile_args=["-O2"],
        depends=[
            "csrc/tables/syscalls.def",
            "csrc/tables/messages.def",
            *(f"csrc/{name}.h" for name in (*(f"shared/{protocol}" for protocol in PROTOCOL), *EXPOSED)),
            *(str(path.relative_to(ROOT)) for path in sorted((CSRC / "turn").rglob("*.h"))),
        ],
    )
    return builder


if __name__ == "__main__":
    build_shim(ROOT / "simunix/lib/libsimunix.so")
    build_init(ROOT / "simunix/lib/simunix-hostinit")
    build_job(ROOT / "simunix/lib/simunix-job")
    build_bus(ROOT / "simunix/lib/simunix-bus")
    build_rsg(ROOT / "simunix/lib/librsg.so")
    run([sys.executable, str(ROOT / "setup.py"), "--quiet", "build_ext", "--inplace"])
