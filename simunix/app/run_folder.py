"""The folder of a run that no scenario describes: one that the user names, or one that is removed when the run has ended."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.emulation import Emulation
from simunix.launch.run_directory import RunDirectory


@contextlib.contextmanager
def run_folder(out: Path | None) -> Iterator[RunDirectory]:
    """A new run directory at `out`; without `out`, one that is removed at the end."""
    if out is not None:
        with RunDirectory.create(out) as directory:
            yield directory
        return
    with _temporary_folder() as folder:
        yield RunDirectory(folder)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A folder that a shell removes when this process ends, even by SIGKILL: the shell waits for the end of a pipe."""
    folder = Path(tempfile.mkdtemp(prefix="simunix-"))
    script = 'read -r _; exec rm -rf -- "$1"'
    try:
        with subprocess.Popen(["/bin/sh", "-c", script, "sh", folder], stdin=subprocess.PIPE, start_new_session=True):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # the shell may have been killed


@contextlib.contextmanager
def recorded(
    emulation: Emulation, directory: RunDirectory, *, is_kept: bool, inputs: Mapping[str, Path], overrides: Sequence[str] = ()
) -> Iterator[None]:
    """Close the emulation in the end. Of a run whose directory is kept, run.json says how it ended and what `inputs` it had."""
    try:
        yield
    except SimunixError as error:
        emulation.note_failure(error)
        raise
    except KeyboardInterrupt:
        emulation.service.reason = emulation.service.reason or "interrupted"
        raise
    finally:
        if is_kept:
            directory.release_reserve()
            _write_record(emulation, directory, inputs, overrides)
        emulation.close()


def _write_record(emulation: Emulation, directory: RunDirectory, inputs: Mapping[str, Path], overrides: Sequence[str]) -> None:
    from simunix.results.record import record_of
    from simunix.results.run_json import checksums

    record = record_of(emulation, inputs=checksums(dict(inputs)))
    record.overrides, record.epoch_s = list(overrides), emulation.plan.kernel.epoch_ns / 1e9
    record.write(directory.path / "run.json")
