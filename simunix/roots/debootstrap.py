"""Make a root file system with debootstrap. No service is started, and after a failure nothing is left behind."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError

MIRROR = "http://deb.debian.org/debian"
SCRIPTS = Path(os.environ.get("DEBOOTSTRAP_DIR", "/usr/share/debootstrap"), "scripts")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+$")
_UNREACHABLE = re.compile(r"(Failed getting release|Couldn't download|Invalid Release file)", re.IGNORECASE)

_UNMET = "dependency problems prevent configuration"
_INSTALL = """
root=$1 release=$2 mirror=$3
shift 3
mount -t proc proc "$root/proc"
[ -e "$root/etc/hosts" ] || echo "127.0.0.1 localhost" >"$root/etc/hosts"
cp "$root/etc/hosts" "$root/etc/hosts.own"
echo "127.0.0.1 $(uname -n)" >>"$root/etc/hosts"
[ -s "$root/etc/apt/sources.list" ] || echo "deb $mirror $release main" >"$root/etc/apt/sources.list"
printf '#!/bin/sh\\nexit 101\\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
chroot "$root" apt-get -q update
chroot "$root" apt-get -q -y --no-install-recommends install "$@"
rm "$root/usr/sbin/policy-rc.d"
mv "$root/etc/hosts.own" "$root/etc/hosts"
"""
"""A shell script that installs packages in a root without starting services; see invoke-rc.d(8).

The installation of a package may look up the computer's name, which the root does not know, so the script adds it.
"""

NAMESPACES = ("unshare", "--mount", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child")
"""The command that runs debootstrap in namespaces of its own, so that processes and mounts of packages' installations
end with it.
"""


@dataclass(frozen=True, slots=True)
class RootRequest:
    """The root to make: a release (`trixie`), a folder, and the packages besides the minimal base."""

    release: str
    directory: Path
    packages: tuple[str, ...] = ()
    mirror: str = MIRROR


def make_root(request: RootRequest, progress: Callable[[str], None] = lambda text: None) -> None:
    """Make the root file system that is requested.

    The work is done in a hidden folder beside the wanted one, which is renamed when the root is complete. Raises
    SimunixError if debootstrap fails.
    """
    check_request(request)
    with _partial_folder(request.directory) as partial:
        code, lines = _bootstrap(request, partial, request.packages, progress)
        if code != 0 and request.packages and _lacks_dependencies(partial):
            code, lines = _install_with_apt(request, partial, progress)
        if code != 0:
            raise SimunixError(f"root make: {_reason([*lines, *_installation_log(partial)], request)}")
        for archive in (partial / "var/cache/apt/archives").glob("*.deb"):
            archive.unlink()
        os.rename(partial, request.directory)  # an empty folder is replaced


def _bootstrap(
    request: RootRequest, root: Path, packages: Sequence[str], progress: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Run debootstrap to make a minimal root with some packages. Return its exit code and its output."""
    command = [*NAMESPACES, "debootstrap", "--variant=minbase"]
    if packages:
        command.append(f"--include={','.join(packages)}")
    return _run([*command, request.release, str(root), request.mirror], progress)


def _lacks_dependencies(root: Path) -> bool:
    """Return whether a package could not be configured because another one is missing, since debootstrap ignores
    virtual packages.
    """
    return any(_UNMET in line for line in _log(root))


def _install_with_apt(request: RootRequest, root: Path, progress: Callable[[str], None]) -> tuple[int, list[str]]:
    """Make a new root without the packages, and install them with the root's own apt, which knows virtual packages.
    Return the exit code and the output.
    """
    progress("debootstrap knows no virtual packages: once more, with apt")
    for entry in root.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    code, lines = _bootstrap(request, root, (), progress)
    if code != 0:
        return code, lines
    script = [str(root), request.release, request.mirror, *request.packages]
    return _run([*NAMESPACES, "/bin/sh", "-ec", _INSTALL, "sh", *script], progress)


def check_request(request: RootRequest) -> None:
    """Raise SimunixError for every error that can be known before anything is downloaded."""
    directory = request.directory
    if directory.exists() and not directory.is_dir():
        raise SimunixError(f"root make: {directory}: exists and is not a folder; choose another name")
    if directory.is_dir() and any(directory.iterdir()):
        raise SimunixError(f"root make: {directory}: not empty; choose another name, or remove it first")
    bad = [name for name in request.packages if not _PACKAGE.match(name)]
    if bad:
        raise SimunixError(f"root make: {bad[0]!r} is no name of a Debian package, such as slurm-wlm")
    if os.geteuid() != 0:
        raise SimunixError("root make: debootstrap needs root, to make devices and to enter the new root; run it with sudo")
    if shutil.which("debootstrap") is None:
        raise SimunixError("root make: debootstrap is not installed; as root: apt-get install debootstrap")
    known = sorted(entry.name for entry in SCRIPTS.iterdir()) if SCRIPTS.is_dir() else []
    if known and request.release not in known:
        close = difflib.get_close_matches(request.release, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else "give one such as 'trixie'"
        raise SimunixError(f"root make: debootstrap knows no release {request.release!r}; {hint}")


@contextlib.contextmanager
def _partial_folder(directory: Path) -> Iterator[Path]:
    """Make a folder beside the wanted one, on the same file system. Remove it at the end of the `with` block unless it
    was renamed.
    """
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
        partial.chmod(0o755)  # users as whom packages' scripts run must be able to enter /
    except OSError as error:
        raise SimunixError(f"root make: {directory}: {error.strerror}; choose a folder that can be written to") from error
    try:
        yield partial
    except OSError as error:
        raise SimunixError(f"root make: {directory}: {error.strerror}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _run(command: Sequence[str], progress: Callable[[str], None]) -> tuple[int, list[str]]:
    """Run a command; return its exit code and the lines that it printed."""
    lines: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line.strip())
                progress(lines[-1].removeprefix("I: "))
        except BaseException:
            process.kill()
            process.stdout.read()  # reading to the end of file makes sure that all processes of the command have ended
            raise
    return process.returncode, lines


def _installation_log(root: Path) -> list[str]:
    """Return the last lines of a package's installation log, which debootstrap keeps in the root that is about to be
    removed.
    """
    return [f"E: {line}" for line in _log(root) if line.startswith(("dpkg: error", "E: "))][-1:]


def _log(root: Path) -> list[str]:
    """Return debootstrap's log, which is in the root until the root is complete."""
    try:
        return (root / "debootstrap/debootstrap.log").read_text(errors="replace").splitlines()
    except OSError:
        return []


def _reason(lines: Sequence[str], request: RootRequest) -> str:
    """Return debootstrap's own error message, with advice for the most common errors."""
    errors = [line for line in lines if line.startswith(("E: ", "W: ", "unshare: ")) and "debootstrap.log" not in line]
    text = [*(lines or ["debootstrap said nothing"]), *errors][-1].removeprefix("E: ").removeprefix("W: ")
    if text.startswith("unshare: "):
        return f"{text}; making a root needs namespaces: outside of a container, or in one with CAP_SYS_ADMIN"
    if _UNREACHABLE.search(text):
        return f"{text}; no network, or {request.mirror} does not hold {request.release}: try --mirror URL"
    return f"debootstrap: {text}"
