"""Marks for tests that need packages which only the set-up of the slow tests installs; without these the tests are skipped."""

from __future__ import annotations

from tests.needs import needs

with_database = needs("slurmdbd", "mariadbd")
