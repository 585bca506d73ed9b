"""Write small files with equal content as hard links to one file, because thousands of processors differ in little."""

from __future__ import annotations

import os
from collections.abc import Mapping


class SharedTexts:
    """Writes files; each content is written once, and further files are hard links.

    Paths are texts here: with tens of thousands of files, pathlib takes more time than the kernel.
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def write(self, path: str, text: str) -> None:
        """Write a file with one line of text into an existing folder."""
        if text in self._written:
            try:
                os.link(self._written[text], path)
                return
            except OSError:  # the file system has no hard links, or allows no more of them to one file
                pass
        with open(path, "w") as file:
            file.write(text + "\n")
        self._written[text] = path

    def write_all(self, folder: str, texts: Mapping[str, str]) -> None:
        """Write files by name into a folder, which is made if it does not exist."""
        os.makedirs(folder, exist_ok=True)
        for name, text in texts.items():
            self.write(f"{folder}/{name}", text)
