"""The mark of tests that cannot be run with the compiled server; test_forms.py runs them with the interpreted one."""

from __future__ import annotations

import pytest

from rsg_server import compiled

interpreted_only = pytest.mark.skipif(
    compiled.form == "compiled", reason="replaces a function that compiled modules call directly; run by test_forms.py"
)
