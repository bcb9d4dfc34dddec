"""Command lines in this process, on the Spark that all tests share: starting one for each would take most of the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from headwater.apps.cli import main
from headwater.hosts.spark import session


class Commands:
    """Runs command lines; what they said is in `out` and `err`."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd
        self.out: list[str] = []
        self.err: list[str] = []

    def __call__(self, *words: object) -> int:
        self.capfd.readouterr()
        code = main([str(word) for word in words])
        said = self.capfd.readouterr()
        self.out, self.err = said.out.splitlines(), said.err.splitlines()
        print(said.out, said.err)  # shown when a test fails
        return code


def commands_on(spark: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """Command lines whose embedded Spark is `spark`."""

    @contextmanager
    def shared(**_: Any) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr(session, "embedded_spark", shared)
    return Commands(capfd)
