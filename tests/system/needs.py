"""What some tests need that only the slow tests have installed; without it these tests are skipped."""

from __future__ import annotations

from tests.needs import needs

with_database = needs("slurmdbd", "mariadbd")
