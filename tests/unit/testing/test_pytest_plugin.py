"""pytest with our plugin, as a process of its own in a folder of a user."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = """\
== queries
CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, a DOUBLE);
CREATE QUERY q AS SELECT k, a FROM s WHERE a > 0;
== case one reading
== rows s
at,a
06:00:00,1
== answers q
a
1
== case another reading
== answers q
a
2
"""


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "headwater.testing.pytest_plugin",
            "-p",
            "no:cacheprovider",
            *words,
        ],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_each_case_is_a_test_and_a_failure_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "x.hwtest").write_text(TEXT)
    (tmp_path / "y.hwtest").write_text("== answer q\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    done = run_pytest(tmp_path, "-v", "--continue-on-collection-errors")
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(line.startswith("x.hwtest::one reading PASSED") for line in printed)
    assert any(line.startswith("x.hwtest::another reading FAILED") for line in printed)
    assert "answers of 'q': 1 missing" in printed and "  - 2" in printed
    assert "error[wrong-section]: '== answer q' is not a section of a test file" in printed
    assert "Traceback" not in done.stdout


def test_it_imports_nothing_where_there_is_no_test_file(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import sys\n"
        "def test_x():\n"
        "    ours = {name for name in sys.modules if name.startswith('headwater')}\n"
        "    allowed = {'headwater', 'headwater.version', 'headwater.testing', 'headwater.testing.assertions',\n"
        "               'headwater.testing.pytest_plugin'}\n"
        "    assert ours == allowed\n"
        "    assert 'numpy' not in sys.modules and 'pyarrow' not in sys.modules\n"
    )
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout


def test_an_installed_headwater_names_the_plugin_and_does_not_need_pytest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module = import_module(project["entry-points"]["pytest11"]["headwater"])
    assert callable(module.pytest_collect_file)
    assert not any(name.startswith("pytest") for name in project["dependencies"])
