"""Small files of equal content as links to one: thousands of processors differ in little."""

from __future__ import annotations

import os
from collections.abc import Mapping


class SharedTexts:
    """Writes files, each content once.

    Paths are texts here: with tens of thousands of files, pathlib takes more time than the kernel.
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def write(self, path: str, text: str) -> None:
        """A file with a line, in a folder that there is."""
        if text in self._written:
            try:
                os.link(self._written[text], path)
                return
            except OSError:  # no links on this file system, or no more of them to one file
                pass
        with open(path, "w") as file:
            file.write(text + "\n")
        self._written[text] = path

    def write_all(self, folder: str, texts: Mapping[str, str]) -> None:
        """Files by name in a folder, which is made if it is not there."""
        os.makedirs(folder, exist_ok=True)
        for name, text in texts.items():
            self.write(f"{folder}/{name}", text)
