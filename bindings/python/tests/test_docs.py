"""The pages: their code is run, and prints what they say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_page_prints_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    names: dict[str, Any] = {}
    count = 0
    for code, output in re.findall(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", text, re.S):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        if output:
            assert printed.getvalue() == output
        count += 1
    assert count > 0
