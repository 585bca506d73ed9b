"""Format the table of system calls, which says what simunix does with each, for the terminal and as
docs/reference/system-calls.md.
"""

from __future__ import annotations

from simunix.coverage.table import PASSED, REFUSED, SIMULATED, Row, counts

HEAD = """# What happens with each system call

`simunix coverage --markdown` generates this page from `csrc/tables/syscalls.def`, and a test compares the two. If the
kernel's headers have a system call that the table lacks, the build of simunix stops.

* **simulated**: simunix's preloaded library (the shim) answers the call, with virtual waits and virtual time. The test
  in the last column shows this; its path is below `tests/`.
* **passed on**: the kernel answers the call. The last column says why the call neither waits, nor tells the time, nor
  shows other hosts.
* **refused**: the program gets the named error, as from a kernel that does not have the call or does not allow it.
  simunix says so on stderr.
* A call whose number is **not in this table** is refused with ENOSYS, as by an older kernel. `run.json` counts such
  calls under `unknown_calls`, and with `--strict` they end the run.
"""

KNOWN_GAPS = """
## What the table does not show

* **Times of files** are virtual ([architecture](../internals/architecture.md#files-and-their-times)). If a program
  writes to a shared mapping, the file counts as changed when the mapping was made. Reading a file changes no time of
  access, as on a `noatime` mount. `ioctl(FS_IOC_SETFLAGS)` and `file_setattr` change no time of a file.
* **`/proc` and `/sys`** have the kernel's own text, with the kernel's times and counters. The exceptions are files that
  describe the emulated host: `uptime`, `stat`, `loadavg`, `meminfo`, `PID/stat`, `boot_id`, `uuid` and, in a scenario,
  `cpuinfo` and the processors in `/sys`. The memory of a process (`rss`, `statm`, `status`) and its number of context
  switches are real.
* **Load averages** are 0, and so is the load that nodes report to their RJMS, because computing takes no time. An average
  over the threads that compute by a job's profile would need a message to the server for each question, and would
  change what nodes report.
* **Loops of system calls that need the server** take several times as long as natively, because each call is a message
  to the server or gives another thread the turn (the right to run). Examples are a signal to another thread, and
  `sched_yield` while other threads are ready. After 20,000 calls without a wait, each further call costs at least as
  much virtual time as it costs natively. A thread that computes and makes a call now and then is not charged CPU time;
  an example is a benchmark that maps memory anew in each round. Only a thread whose only calls are clock reads is
  charged.
* **`rdtsc` and `rdtscp`** are instructions and no system calls. simunix makes them fault, and they tell virtual time at
  2 GHz (`csrc/shim/sys/time/tsc.c`). `rdrand` draws real random numbers from the processor, which no seed can
  determine. `simunix check` tells which programs may use it.
* **Programs without a preloaded library** get the shim from the first process of their host
  ([architecture](../internals/architecture.md#programs-without-a-loader)). These are static programs, programs with
  privileges (setuid, setgid, file capabilities), programs that their user may not read, and programs with another C
  library. Their system calls reach the shim only by the slower of the two ways, a trap of the kernel. The kernel gives
  a setuid program such as `su` random addresses, even if root runs it. The shim replaces these by fixed ones, but the
  programs that it runs have random ones. If tracing is refused, or the address space is limited, a run with such a
  program says that it is not deterministic. 32-bit programs are refused, or killed if only their exec shows what they
  are.
* **`ptrace` among emulated processes** is implemented by the shim and the server. The kernel's own ptrace would stop a
  traced thread at each SIGSYS of the shim's traps, while that thread has the turn; besides, a program can have only one
  tracer. Inside of the emulation, `gdb` (run, attach, breakpoints, steps, calls, watchpoints for writes, threads),
  `gcore` and `strace -f` (run, attach) work. A job's task can be left stopped for a debugger (SIGSTOP, then
  `PTRACE_DETACH`). `strace` and `gdb` also work from outside of the emulation ([diagnosis](../guide/diagnosis.md)).
  These things differ from ptrace(2):
    * After an exec, the thread stops only when the shim has been loaded, so the loader's own calls are not seen.
    * `/proc/PID/status` shows no tracer, and the SIGCHLD of a stop has the code of kill(2).
    * `PTRACE_SEIZE` and what needs it (`INTERRUPT`, `LISTEN`), `PTRACE_GET_SYSCALL_INFO`, `PTRACE_SYSEMU` and
      `PTRACE_SINGLEBLOCK` fail with EIO, which strace can handle.
    * With a watchpoint, the thread runs instruction by instruction. A watchpoint for reads is refused.
    * A traced thread has no group stops: a SIGSTOP that the tracer delivers is dropped.
    * A sleep in which a debugger has called a function begins anew.
    * The child of a traced vfork(2) or posix_spawn(3) has its own copy of the memory.
    * A program that gains privileges is refused under a tracer, by name; Linux runs it without the privileges.
* **Filters of system calls** (`seccomp`, `PR_SET_SECCOMP`) are run by the shim. The kernel never gets them, because it
  would apply them to the shim's own calls. All actions, the strict mode and `SECCOMP_FILTER_FLAG_TSYNC` work as with
  Linux, also after fork and exec. The calls of the loader in a new program, `rt_sigreturn` and i386 calls are not
  filtered. `SECCOMP_RET_TRACE` finds no tracer. `SECCOMP_FILTER_FLAG_NEW_LISTENER`, with which a call would wait in the
  kernel for another process, is refused with EINVAL, as by a Linux before 5.0. From the first filter on, each call of
  the process is a trap, which takes about 2 µs of real time.
* **Leases** (`F_SETLEASE`) are refused with EINVAL, as by a file system without leases. The kernel would make a process
  that opens the file wait, and break the lease after 45 s of real time, whatever the virtual time is.
* **`ioctl`** is refused for requests that are known to wait or to tell the time. A device with requests of its own may
  still do either.
"""


def summary(rows: tuple[Row, ...]) -> str:
    """Return one line of text: how many system calls simunix simulates, passes on to the kernel, and refuses."""
    numbers = counts(rows)
    parts = ", ".join(f"{numbers[verdict]} {verdict}" for verdict in (SIMULATED, PASSED, REFUSED))
    return f"{len(rows)} system calls: {parts}"


def text(rows: tuple[Row, ...]) -> str:
    """Return the table of system calls in columns for a terminal; the last line is the summary."""
    width = max(len(row.name) for row in rows)
    lines = [f"{row.number:>3}  {row.name:<{width}}  {row.verdict:<9}  {row.reason}" for row in rows]
    return "\n".join([*lines, summary(rows)])


def markdown(rows: tuple[Row, ...]) -> str:
    """Return the content of the page docs/reference/system-calls.md, in Markdown."""
    lines = [HEAD, f"{summary(rows)}.\n", "| number | call | what happens | shown by, or why |", "| ---: | --- | --- | --- |"]
    for row in rows:
        reason = f"`{row.test}`" if row.verdict == SIMULATED else row.reason
        lines.append(f"| {row.number} | `{row.name}` | {row.verdict} | {reason} |")
    return "\n".join(lines) + "\n" + KNOWN_GAPS
