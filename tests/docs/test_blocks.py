"""Scenarios and programs in the documentation are what they look like."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import yaml

from simunix.scenario.loader import load
from tests.docs.pages import PAGES, ROOT, Block, blocks_of

BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def of_language(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def is_whole_scenario(block: Block) -> bool:
    content = yaml.safe_load(block.text)
    return isinstance(content, dict) and "hosts" in content


WHOLE = [block for block in of_language("yaml") if is_whole_scenario(block)]


def test_there_are_scenarios() -> None:
    assert len(WHOLE) >= 3


@pytest.mark.parametrize("block", WHOLE, ids=lambda block: block.name)
def test_whole_scenarios_load(block: Block, tmp_path: Path) -> None:
    """The loader checks keys and values; roots of other releases are not there."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "scenario.yaml").write_text(block.text)
    load(tmp_path / "scenario.yaml")


@pytest.mark.parametrize("block", of_language("yaml"), ids=lambda block: block.name)
def test_yaml_can_be_read(block: Block) -> None:
    assert yaml.safe_load(block.text) is not None


@pytest.mark.parametrize("block", of_language("python"), ids=lambda block: block.name)
def test_python_compiles(block: Block) -> None:
    ast.parse(block.text)


@pytest.mark.parametrize("block", of_language("json"), ids=lambda block: block.name)
def test_json_can_be_read(block: Block) -> None:
    json.loads(block.text)
