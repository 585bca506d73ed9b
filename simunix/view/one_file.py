"""The page of a run that has ended, as one file that a browser opens without simunix (`simunix view --one-file`)."""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.whole_files import whole_file
from simunix.results.live_json import NAME, read_live
from simunix.view.files import RunFiles
from simunix.view.model import Model
from simunix.view.pages import FILES, facts_for_page
from simunix.view.serve import facts_of_folder, load_finished

_SCRIPT = re.compile(r'<script src="(?P<name>[\w.]+)"></script>')
_STYLE = re.compile(r'<link rel="stylesheet" href="(?P<name>[\w.]+)">')


def write_one_file(folder: Path, path: Path) -> None:
    """Write the page of a run. Raises SimunixError if the run has not ended, or the file cannot be written."""
    if not (folder / "run.json").exists():
        raise SimunixError(f"--one-file: {folder}: this run has not ended; leave the option out to see it now")
    live = read_live(folder) if (folder / NAME).exists() else None
    model = Model(facts_for_page(asdict(live)) if live is not None else facts_of_folder(folder))
    files = RunFiles(folder, live, model) if live is not None else None
    load_finished(folder, model, files if files is not None and files.tells_starts else None)
    with whole_file(path) as file:
        file.write(page_of(model))


def page_of(model: Model) -> str:
    """The page with its scripts and styles, and with all that the model knows."""
    text = FILES["/"][0].read_text()
    text = _STYLE.sub(lambda found: f"<style>{_content(found['name'])}</style>", text)
    told = html.escape(json.dumps(model.message(0)[0], separators=(",", ":")), quote=False)
    data = f'<template id="data">{told}</template>\n'
    head, first, rest = text.partition("<script src=")
    return head + data + _SCRIPT.sub(lambda found: f"<script>{_content(found['name'])}</script>", first + rest)


def _content(name: str) -> str:
    return FILES[f"/{name}"][0].read_text().replace("</script", "<\\/script")
