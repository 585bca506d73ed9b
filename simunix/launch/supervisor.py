"""Start, end and restart the processes of a plan during a run, and decide when the run is finished.

The supervisor acts only by events at virtual times. So the course of a run never depends on the speed of this computer.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.edge.service import Service
from rsg_server.errors import ServerError, SimunixError, StallError
from rsg_server.kernel import Kernel
from rsg_server.process.host_state import Command
from rsg_server.process.process import Process
from rsg_server.wiring import effects_of
from simunix.launch.factory.broker import FactoryError, HostLostError, KilledError
from simunix.launch.failures import Failure, describe_exit, last_lines, last_words
from simunix.launch.limits.ksm import MemoryGate
from simunix.launch.plan import Plan, ProcessSpec
from simunix.launch.run_directory import RunDirectory

if TYPE_CHECKING:
    from rsg_server.faults.changes import ProcessChange
    from rsg_server.rsg.actor import Participant

BOOT_STEP_NS = 10**9
"""When a host boots, its processes start again with the pauses that the plan has between them, but no pause is longer
than this.
"""
GRACE_NS = 60 * 10**9
"""How long, in virtual time, an interrupted run goes on for the programs that collect results."""
FROM_OUTSIDE = (HostLostError, FactoryError, KilledError, ServerError, StallError)
"""Errors whose cause is outside of the emulation; no scenario leads to them."""
SIGNALS = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP, "running": signal.SIGCONT}
"""The signal by which an event brings a process to each state."""
Descriptors = tuple[int, int, int]
"""The descriptors of standard input, standard output and standard error."""


@dataclass(slots=True)
class Supervised:
    """A process of the plan, with its present state."""

    spec: ProcessSpec
    process: Process | None = None
    starts: int = 0
    ended: bool = False
    exit_code: int | None = None
    started_ns: int | None = None  # the virtual times of its latest start and end
    ended_ns: int | None = None
    at_boot: bool = False  # the process starts when its host comes on again
    is_down: bool = False  # an event has killed the process for a while
    actor: Participant | None = None  # the actor of Remote SimGrid that the process becomes


class Supervisor:
    """Starts the processes of a plan at their virtual times, restarts them as the plan says, and ends the run by
    `service.end`.

    When the run is finished, or its time is up, the programs that collect results run, and then the run ends. These
    programs also run at the end of a run that fails, or that its user ends. But then the run ends after GRACE_NS at the
    latest, and failures of these programs do not count. `foreground` are the descriptors of a single command, if the
    plan is one. With `keep_alive`, the run is never finished. `gate` delays starts while this computer is short of
    memory.
    """

    def __init__(
        self,
        service: Service,
        plan: Plan,
        directory: RunDirectory,
        foreground: Descriptors | None = None,
        gate: MemoryGate | None = None,
        keep_alive: bool = False,
    ) -> None:
        self.failure: str | None = None
        # the processes that did not end as the plan expects, without those that ended the run
        self.failures: list[Failure] = []
        self.entries = [Supervised(spec) for spec in plan.processes]
        self._kernel: Kernel = service.kernel
        self._service = service
        self._plan = plan
        self._directory = directory
        self._foreground = foreground
        self._gate = gate
        self._keep_alive = keep_alive
        self._reason: str | None = None  # the reason for the end of the run, once only programs that collect are waited for
        self._is_cut_short = False
        self._collectors = [entry for entry in self.entries if entry.spec.collects]
        self._schedule_faults()
        if any(entry.spec.actor is not None for entry in self.entries):
            self._kernel.rsg.lives.begin_when_connected()
            self._kernel.rsg.places.on_turned_on.connect(self._booted)
        for entry in (entry for entry in self.entries if not entry.spec.collects):
            self._kernel.timeline.add(entry.spec.start_ns, partial(self._start, entry))

    def _schedule_faults(self) -> None:
        faults = self._kernel.faults
        faults.power.on_boot.connect(self._booted)
        faults.power.on_loss.connect(lambda host: self._end_if_finished())
        faults.on_process.connect(self._change)
        faults.schedule(self._plan.faults)
        for profile in self._plan.profiles:
            faults.play(profile)

    # Starts

    def _start(self, entry: Supervised) -> None:
        """Start a process of the plan now; called as an event of the server's queue of events."""
        if not self._kernel.faults.power.starts_programs(entry.spec.host):
            entry.at_boot = boots_again(entry.spec)
            entry.ended = not entry.at_boot
            return
        if self._gate is not None:
            self._gate.wait()
        if not self._announce(entry):
            return
        entry.starts += 1
        entry.started_ns = self._kernel.now_ns
        try:
            entry.process = self._spawn(entry)
        except SimunixError as error:
            if isinstance(error, FROM_OUTSIDE):
                self._kernel.disturbances.note(str(error))
            entry.ended = True
            self.fail(str(error))
            return
        entry.process.on_exit.connect(partial(self._ended, entry))

    def _announce(self, entry: Supervised) -> bool:
        """Announce the actor of Remote SimGrid that a process becomes; return false if an actor has switched its host
        off.
        """
        spec = entry.spec
        if spec.actor is None:
            return True
        rsg, host = self._kernel.rsg, self._kernel.hosts[spec.host].host
        if rsg.places.is_off(host):
            entry.ended, entry.at_boot = True, spec.actor.restarts
            return False
        entry.actor = rsg.lives.announce(spec.actor.name, host, None)
        if spec.actor.kill_ns is not None:
            rsg.lives.kill_at(entry.actor, spec.actor.kill_ns / 1e9)
        return True

    def _spawn(self, entry: Supervised) -> Process:
        spec, actor = entry.spec, entry.actor
        told = {"RSG_INITIAL_ACTOR_ID": str(actor.pid), "RSG_AUTOCONNECT": "1"} if actor is not None else {}
        with contextlib.ExitStack() as stack:
            stdin, stdout, stderr = self._foreground or self._output_files(spec, stack)
            command = Command(
                argv=spec.argv,
                environment={**self._plan.environment, **told, **spec.environment},
                directory=spec.directory,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                user=spec.user,
                label=spec.name,
                cpu_policy=spec.cpu_policy,
                foreground=self._foreground is not None,
            )
            return self._kernel.programs.spawn(spec.host, command)

    def _output_files(self, spec: ProcessSpec, stack: contextlib.ExitStack) -> Descriptors:
        directory = self._directory.host(spec.host)
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        stdout, stderr = (os.open(directory / f"{spec.name}.{suffix}", append, 0o644) for suffix in ("out", "err"))
        for fd in (stdin, stdout, stderr):
            stack.callback(os.close, fd)
        return stdin, stdout, stderr

    def _booted(self, host: str) -> None:
        """Start the processes again that ran on a host before it was switched off, in the order of the plan's times,
        and those that were due in the meantime.
        """
        offset_ns, before_ns = 0, None
        for entry in sorted(self.entries, key=lambda entry: entry.spec.start_ns):
            if entry.at_boot and entry.spec.host == host:
                offset_ns += 0 if before_ns is None else min(entry.spec.start_ns - before_ns, BOOT_STEP_NS)
                before_ns = entry.spec.start_ns
                entry.at_boot = entry.ended = False
                self._kernel.timeline.add(self._kernel.now_ns + offset_ns, partial(self._start, entry))

    # Ends

    def _ended(self, entry: Supervised, process: Process) -> None:
        status = process.exit_status
        entry.exit_code = None if status is None or status < 0 else os.waitstatus_to_exitcode(status)
        entry.process = None
        entry.ended_ns = self._kernel.now_ns
        spec = entry.spec
        if entry.actor is not None and entry.actor.thread is None:
            self._kernel.rsg.lives.withdraw(entry.actor)
        if not self._kernel.faults.power.starts_programs(spec.host):  # the process ended with its host; see on_loss
            entry.ended, entry.at_boot, entry.is_down = True, boots_again(spec), False
            return
        if entry.is_down:
            return
        again = spec.restart == "always" or (spec.restart == "on-failure" and entry.exit_code not in spec.expect)
        if again and not self._service.reason:
            self._kernel.timeline.add(self._kernel.now_ns + spec.restart_delay_ns, partial(self._start, entry))
            return
        entry.ended = True
        if spec.actor is not None and self._kernel.rsg.places.is_off(self._kernel.hosts[spec.host].host):
            entry.at_boot = spec.actor.restarts  # an actor has switched the host off
        self._note_end(entry)
        is_well = entry.exit_code == 0 or not spec.essential or (spec.collects and self._is_cut_short)
        if spec.collects and is_well:
            self._end_if_collected()
        elif self._is_decided() and is_well:
            # at this very moment of virtual time: otherwise the event log would depend on the speed of this computer
            self.conclude("done")
        elif spec.essential and not (spec.is_workload and entry.exit_code == 0):
            output = self._directory.host(spec.host) / f"{spec.name}.err"
            self._failed(
                f"{spec.host}: {spec.name} ended with {describe_exit(entry.exit_code)} at "
                f"{self._kernel.now_ns / 1e9:.3f} s; its output is in {output}{last_words(output)}"
            )

    def _note_end(self, entry: Supervised) -> None:
        """Record that a process did not end as the plan expects. The end of an actor that Remote SimGrid has killed is
        not recorded.
        """
        spec = entry.spec
        is_killed = entry.actor is not None and entry.actor.is_killed
        is_asked = spec.collects and not spec.is_check
        if entry.exit_code in spec.expect or is_asked or spec.essential or is_killed or self.failure is not None:
            return
        lines = last_lines(self._directory.host(spec.host) / f"{spec.name}.err", 1)
        self.failures.append(Failure(spec, entry.exit_code, self._kernel.now_ns, "".join(lines)))

    def fail(self, text: str) -> None:
        """End the run as failed; if it has failed already, the first reason stays."""
        self.failure = self.failure or text
        self._service.end("failed")

    def _failed(self, text: str) -> None:
        """End the run as failed, after the programs that collect the RJMS's records have run, unless they run already."""
        self.failure = self.failure or text
        if self._collectors and self._reason is None:
            self.wind_up("failed")
        elif not self._is_cut_short:
            self.fail(text)

    def send_signal(self, entry: Supervised, number: int) -> None:
        """Send a signal to a process of the plan if it is alive; must be called from an event of the server's queue of
        events.
        """
        if entry.process is not None:
            effects_of(self._kernel).inject(entry.process, number)

    def _change(self, change: ProcessChange, is_for_a_while: bool) -> None:
        """Kill, stop or continue the processes of the plan that an event names, or start those that it has killed.

        `is_for_a_while`: another event starts a killed process again, whatever its key `restart` says.
        """
        for entry in self.entries:
            if (entry.spec.host, entry.spec.name) != (change.host, change.process) or entry.spec.collects:
                continue
            if change.process_state == "running" and entry.is_down:
                entry.is_down = False
                self._start(entry)
                continue
            entry.is_down = entry.is_down or (change.process_state == "killed" and is_for_a_while and entry.process is not None)
            self.send_signal(entry, SIGNALS[change.process_state])

    def conclude(self, reason: str) -> None:
        """Run the programs that collect results, then end the run for this reason; the first reason counts."""
        if self._reason is not None:
            return
        self._reason = reason
        for entry in self._collectors:
            if not self._kernel.faults.power.starts_programs(entry.spec.host):
                self.fail(f"{entry.spec.host}: {entry.spec.name} cannot collect what the run has left there: the host is off")
                return
            self._kernel.timeline.add(self._kernel.now_ns, partial(self._start, entry))
        self._end_if_collected()

    def wind_up(self, reason: str) -> None:
        """Cut the run short for this reason: submit no more jobs, run the programs that can collect results, and end
        soon.
        """
        if self._reason is None:
            self._reason, self._is_cut_short = reason, True
            for entry in self.entries:
                if entry.spec.is_workload and entry.process is not None:
                    self._kernel.timeline.add(self._kernel.now_ns, partial(self.send_signal, entry, signal.SIGSTOP))
            for entry in self._collectors:
                if self._kernel.faults.power.starts_programs(entry.spec.host):
                    self._kernel.timeline.add(self._kernel.now_ns, partial(self._start, entry))
                else:
                    entry.ended = True
        self._kernel.timeline.add(self._kernel.now_ns + GRACE_NS, partial(self._service.end, reason))
        self._end_if_collected()

    def _end_if_collected(self) -> None:
        if self._reason is not None and all(entry.ended for entry in self._collectors):
            self._service.end(self._reason)

    def _end_if_finished(self) -> None:
        if self._is_decided():
            self.conclude("done")

    def _is_over(self, entry: Supervised) -> bool:
        if entry.at_boot:
            return not self._kernel.faults.power.boots_later(entry.spec.host)
        return entry.ended

    def is_finished(self) -> bool:
        """Return whether all processes that the plan waits for have ended, including the programs that collect results."""
        self._end_if_finished()
        return self._reason is not None and all(entry.ended for entry in self._collectors)

    def is_at_rest(self) -> bool:
        """Return whether a single command has ended and only daemons are left, started by the command, that wait for
        ever.
        """
        return self._foreground is not None and all(entry.ended for entry in self.entries)

    def _is_decided(self) -> bool:
        """Return whether all processes that decide the end of the run have ended: by the plan's `stop`, the workload's,
        some, or all.
        """
        stop = self._plan.stop
        if stop == "time" or self._keep_alive:
            return False
        deciding = [entry for entry in self.entries if self._decides(entry.spec)]
        done = bool(deciding) and all(self._is_over(entry) for entry in deciding)
        return done and (stop != "processes" or not self._any_left())

    def _any_left(self) -> bool:
        """Return whether any process is alive, other than system buses and those on hosts with a program that only
        serves others.
        """
        serving, buses = {entry.spec.host for entry in self.entries if entry.spec.serves}, self._kernel.buses
        living = (process for process in self._kernel.processes.values() if process.host.name not in serving)
        return any(not buses.holds(process) for process in living)

    def _decides(self, spec: ProcessSpec) -> bool:
        stop = self._plan.stop
        if isinstance(stop, frozenset):
            return spec.name in stop
        return spec.is_workload or (stop != "workload" and not (spec.collects or spec.serves))


def boots_again(spec: ProcessSpec) -> bool:
    """Return whether a process starts again when its host comes on. An actor of Remote SimGrid starts again only if it
    has asked for this.
    """
    return spec.actor is None or spec.actor.restarts
