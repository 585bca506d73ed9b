"""The run directory of a run without a scenario: a folder that the user names, or a temporary folder that is removed
after the run.
"""

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
    """Make a run directory at `out` for the `with` block; without `out`, make a temporary one and remove it afterwards."""
    if out is not None:
        with RunDirectory.create(out) as directory:
            yield directory
        return
    with _temporary_folder() as folder:
        yield RunDirectory(folder)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Make a temporary folder for the `with` block. A shell removes the folder if this process dies, even by SIGKILL:
    the shell waits for the end of a pipe from this process.
    """
    folder = Path(tempfile.mkdtemp(prefix="simunix-"))
    script = 'read -r _; exec rm -rf -- "$1"'
    try:
        with subprocess.Popen(["/bin/sh", "-c", script, "sh", folder], stdin=subprocess.PIPE, start_new_session=True):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # something may have killed the shell that removes the folder


@contextlib.contextmanager
def recorded(
    emulation: Emulation, directory: RunDirectory, *, is_kept: bool, inputs: Mapping[str, Path], overrides: Sequence[str] = ()
) -> Iterator[None]:
    """Close the emulation at the end of the `with` block. If the run directory is kept, write run.json there: how the
    run ended and which files in `inputs` it used.
    """
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
