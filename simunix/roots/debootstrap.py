"""Makes a root file system with debootstrap. No service is started, and nothing is left behind on failure."""

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
"""Installs packages in a root, without starting services: see invoke-rc.d(8).

The set-up of a package may look up the name of its computer, which the root does not know.
"""

NAMESPACES = ("unshare", "--mount", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child")
"""Namespaces for debootstrap: processes and mounts of a package's installation end with debootstrap itself."""


@dataclass(frozen=True, slots=True)
class RootRequest:
    """The root to make: a release (`trixie`), a folder, and the packages besides the minimal base."""

    release: str
    directory: Path
    packages: tuple[str, ...] = ()
    mirror: str = MIRROR


def make_root(request: RootRequest, progress: Callable[[str], None] = lambda text: None) -> None:
    """Make the root.

    The folder appears when it is complete; until then, the work is done in a hidden folder beside it. Raises SimunixError.
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
        os.rename(partial, request.directory)  # replaces an empty folder too


def _bootstrap(
    request: RootRequest, root: Path, packages: Sequence[str], progress: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Have debootstrap make a minimal root with some packages."""
    command = [*NAMESPACES, "debootstrap", "--variant=minbase"]
    if packages:
        command.append(f"--include={','.join(packages)}")
    return _run([*command, request.release, str(root), request.mirror], progress)


def _lacks_dependencies(root: Path) -> bool:
    """Return whether a package could not be set up because another is missing: debootstrap passes over virtual
    packages.
    """
    return any(_UNMET in line for line in _log(root))


def _install_with_apt(request: RootRequest, root: Path, progress: Callable[[str], None]) -> tuple[int, list[str]]:
    """Begin anew with a root without packages, and have its own apt, which knows virtual packages, install them."""
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
    """Make a folder beside the wanted one, on the same file system; remove it afterwards unless it was renamed."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
        partial.chmod(0o755)  # the / that users of packages, being installed, can enter
    except OSError as error:
        raise SimunixError(f"root make: {directory}: {error.strerror}; choose a folder that can be written to") from error
    try:
        yield partial
    except OSError as error:
        raise SimunixError(f"root make: {directory}: {error.strerror}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _run(command: Sequence[str], progress: Callable[[str], None]) -> tuple[int, list[str]]:
    """Run a command; return its exit code and all that it printed."""
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
            process.stdout.read()  # its end of file: everything that ran in there is gone
            raise
    return process.returncode, lines


def _installation_log(root: Path) -> list[str]:
    """Return the last lines of a package's installation, which debootstrap keeps in the root that will be removed."""
    return [f"E: {line}" for line in _log(root) if line.startswith(("dpkg: error", "E: "))][-1:]


def _log(root: Path) -> list[str]:
    """Return the log that debootstrap keeps in a root until the root is complete."""
    try:
        return (root / "debootstrap/debootstrap.log").read_text(errors="replace").splitlines()
    except OSError:
        return []


def _reason(lines: Sequence[str], request: RootRequest) -> str:
    """Return debootstrap's own error, with the remedy for the commonest errors."""
    errors = [line for line in lines if line.startswith(("E: ", "W: ", "unshare: ")) and "debootstrap.log" not in line]
    text = [*(lines or ["debootstrap said nothing"]), *errors][-1].removeprefix("E: ").removeprefix("W: ")
    if text.startswith("unshare: "):
        return f"{text}; making a root needs namespaces: outside of a container, or in one with CAP_SYS_ADMIN"
    if _UNREACHABLE.search(text):
        return f"{text}; no network, or {request.mirror} does not hold {request.release}: try --mirror URL"
    return f"debootstrap: {text}"
