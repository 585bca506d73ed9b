"""The page of an ended run as one file: nothing is left to be loaded, and names cannot leave their place."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.view.model import Model
from simunix.view.one_file import page_of


def test_nothing_is_left_to_be_loaded() -> None:
    page = page_of(Model({"name": "x", "clusters": [], "hosts": {}}))
    assert not re.search(r'<script src=|<link rel="stylesheet"', page)
    assert page.count("<script>") == page.count("</script>") == 5


def test_hostile_names_stay_names() -> None:
    name = "</template><script>alert(1)</script>&amp;\u2028"
    page = page_of(Model({"name": name, "clusters": [], "hosts": {}}))
    found = re.findall(r'<template id="data">(.*)</template>', page)
    assert len(found) == 1 and "<" not in found[0]
    assert json.loads(html.unescape(found[0]))["facts"]["name"] == name


def test_a_run_that_has_not_ended_gets_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events.jsonl").write_text("")
    assert main(["view", str(tmp_path), "--one-file", str(tmp_path / "page.html")]) == 2
    told = f"simunix: --one-file: {tmp_path}: this run has not ended; leave the option out to see it now\n"
    assert capsys.readouterr().err == told
    assert not (tmp_path / "page.html").exists()
