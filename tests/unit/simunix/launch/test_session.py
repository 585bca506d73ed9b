"""The user, home folder and shell of a session on a host, by the host's own /etc/passwd."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.launch.session import user_of

PASSWD = "root:x:0:0:root:/root:/bin/zsh\nann:x:1000:1000::/home/ann:/bin/sh\nbroken\n"


def root(folder: Path, passwd: str | None) -> Path:
    """A root file system with /bin/zsh by a symbolic link, and this /etc/passwd."""
    (folder / "etc").mkdir()
    (folder / "usr/bin").mkdir(parents=True)
    (folder / "usr/bin/zsh").touch()
    (folder / "usr/bin/sh").touch()
    (folder / "bin").symlink_to("/usr/bin")
    if passwd is not None:
        (folder / "etc/passwd").write_text(passwd)
    return folder


@pytest.mark.parametrize(
    ("passwd", "user", "found"),
    [
        (PASSWD, 0, ("root", "/root", "/bin/zsh")),
        (PASSWD, 1000, ("ann", "/home/ann", "/bin/sh")),
        (PASSWD, 5, ("root", "/root", "/bin/sh")),
        (PASSWD.replace("/bin/zsh", "/bin/fish"), 0, ("root", "/root", "/bin/sh")),
        ("toor:x:0:0::/:\n", 0, ("toor", "/", "/bin/sh")),
        (None, 0, ("root", "/root", "/bin/sh")),
    ],
)
def test_user_of(tmp_path: Path, passwd: str | None, user: int, found: tuple[str, str, str]) -> None:
    assert user_of(root(tmp_path, passwd), user) == found
