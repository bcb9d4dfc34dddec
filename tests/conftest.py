"""One Spark session for the whole run, and how long each part of the suite took."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

LONG_FIRST = Counter(golden=0, spark=1, docs=2, wheel=2, laws=3, simulation=4, unit=5)
_seconds: Counter[str] = Counter()


settings.register_profile("suite", deadline=None, derandomize=True, database=None)


def pytest_configure() -> None:
    """The same examples in every run, however busy the machine; and never machine code of files that have changed since."""
    from headwater.hosts.stored_code import use_compiled_code

    settings.load_profile("suite")
    use_compiled_code()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where files run side by side, the long ones begin: at the end short ones fill up both processes."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: LONG_FIRST[_part(item.nodeid)])


@pytest.fixture
def signals_end_us() -> Iterator[None]:
    """Ctrl-C and SIGHUP do what they do in a terminal, for the test and what it starts, though a background job ignores them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The embedded Spark, started when the first test asks for it."""
    from headwater.hosts.spark.session import start_spark, stop_spark

    session = start_spark(cores=2, small=True, log=tmp_path_factory.mktemp("spark") / "spark.log")
    yield session
    stop_spark(session)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[_part(report.nodeid)] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _seconds:
        parts = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in _seconds.items())
        terminalreporter.write_line(f"time: {parts}")


def _part(test: str) -> str:
    """`unit`, `laws`, …: the folder below `tests`."""
    folders = Path(test.split("::")[0]).parts
    return folders[1] if len(folders) > 2 else folders[0]
