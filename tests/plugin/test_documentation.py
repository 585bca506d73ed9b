"""docs/guide/testing-your-program.md is run as printed: its files are written, its commands called, the output compared."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.conftest import IS_ANNOUNCED, PLUGIN, ROOT

GUIDE = ROOT / "docs" / "guide" / "testing-your-program.md"
BLOCK = re.compile(r"^```(\w+)(?: title=\"(\S+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = [
    (r" in \d+\.\d+s$", " in N s"),  # wall time
    (r"(\d+\.\d\d)\d{4} s\b", r"\1 s"),  # virtual time: another libc makes a few calls more or fewer
    (r"socket:\[\d+\]", "socket:[N]"),
    (r"(^| |\()/\S*/", r"\1"),  # folders
    (r"\bpython[\d.]*(?=[ \[])", "python"),  # however it is called here
    (r" +$", ""),
]


def normal(text: str) -> list[str]:
    """The text without what differs from computer to computer."""
    for pattern, replacement in VARYING:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text.strip().splitlines()


@pytest.mark.slow
def test_guide_tells_the_truth(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "80")
    blocks = BLOCK.findall(GUIDE.read_text())
    for _, name, text in blocks:
        if name:
            (pytester.path / name).write_text(text)
    commands = [text for language, _, text in blocks if language == "console"]
    assert commands
    for text in commands:
        line, _, expected = text.partition("\n")
        words = shlex.split(line.removeprefix("$ "))
        assert words[0] == "pytest"
        plugin = () if IS_ANNOUNCED else ("-p", PLUGIN)
        shown = pytester.runpytest_subprocess(*plugin, *words[1:], timeout=60).stdout.str()
        assert normal(shown) == normal(expected)


def test_every_option_of_the_plugin_is_in_the_guide() -> None:
    from simunix.pytest_plugin import INI

    text = GUIDE.read_text()
    assert all(name in text for name in (*INI, "--simunix-keep", "--simunix-seed"))
