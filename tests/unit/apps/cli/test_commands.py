from __future__ import annotations

import io
import subprocess
import sys

import pytest

from headwater import __version__
from headwater.apps.cli import main
from headwater.apps.cli.zones_option import zones_here

STREAM = "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);\n"
COLD = "CREATE QUERY cold AS SELECT station FROM weather WHERE temperature < 0;\n"


def test_check_of_a_file_without_errors_says_so(tmp_path, capsys):
    file = tmp_path / "alerts.hw"
    file.write_text(STREAM + COLD)
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr() == (f"{file}: 1 stream, 1 query, no errors\n", "")


def test_check_prints_every_error_with_its_place(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alerts.hw").write_text(
        STREAM + COLD.replace("weather", "wether") + COLD.replace("station", "statoin")
    )
    assert main(["check", "alerts.hw"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("error[") >= 2
    assert "alerts.hw:2:42" in err
    assert "did you mean 'weather'?" in err
    assert "did you mean 'station'?" in err


def test_queries_may_come_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((STREAM + COLD).encode())))
    assert main(["check", "-"]) == 0
    assert capsys.readouterr().out == "-: 1 stream, 1 query, no errors\n"


def test_explain_prints_the_plan(tmp_path, capsys):
    file = tmp_path / "alerts.hw"
    file.write_text(STREAM + COLD)
    assert main(["explain", str(file), "--zones", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 stream, 1 query, 3 zones\n")
    assert "query cold" in out
    assert main(["explain", str(file)]) == 0
    assert capsys.readouterr().out.startswith(f"1 stream, 1 query, {zones_here()} zones\n")


@pytest.mark.parametrize("zones", ["0", "65", "two", "²"])
def test_zones_are_a_number_with_a_bound(tmp_path, capsys, zones):
    assert main(["explain", "x.hw", "--zones", zones]) == 2
    assert f"--zones: a number from 1 to 64 is expected, not '{zones}'" in capsys.readouterr().err


def test_version_and_help(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"headwater {__version__}\n"
    assert main([]) == 0
    out = capsys.readouterr().out
    assert [word for word in ("run", "check", "explain", "demo", "bench") if f"\n    {word} " in out] == [
        "run", "check", "explain", "demo", "bench",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "message", "advice"),
    [
        ("rnu x.hw", "unknown-command", "there is no command 'rnu'", "did you mean 'run'?"),
        ("fly", "unknown-command", "there is no command 'fly'", "known commands: bench, check, "),
        ("check x.hw --most-histroy 1", "unknown-flag", "'headwater check' has no flag '--most-histroy'", "did you mean '--most-history'?"),
        ("run x.hw --input a=b --ouput=c", "unknown-flag", "'headwater run' has no flag '--ouput'", "did you mean '--output'?"),
        ("--verison", "unknown-flag", "'headwater' has no flag '--verison'", "did you mean '--version'?"),
        ("run", "usage", "'headwater run' needs FILE and --input", "'headwater run --help' lists the flags"),
        ("check", "usage", "'headwater check' needs FILE", "'headwater check --help'"),
        ("check a.hw b.hw", "usage", "'headwater check' does not take 'b.hw'", "lists what it takes"),
        ("run x.hw --input a=b --engine sprak", "usage", "--engine takes spark or local, not 'sprak'", "did you mean 'spark'?"),
        ("run x.hw --input", "usage", "--input needs a value", ""),
        ("run x.hw --input a=b --quiet=yes", "usage", "--quiet takes no value, but 'yes' is given", ""),
        ("run x.hw --input a=b --o c", "usage", "'--o' may be --output or --once", "write it in full"),
        ("run x.hw --input a=b --tick soon", "usage", "--tick: expected a number of seconds from 0.001 to a day, not 'soon'", ""),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_what_was_perhaps_meant(capsys, words, code, message, advice):
    assert main(words.split()) == 2
    first, *further = capsys.readouterr().err.splitlines()
    assert first == f"error[{code}]: {message}"
    assert advice in "\n".join(further)


def test_help_imports_nothing_heavy():
    code = "import sys; from headwater.apps.cli import main; main([]); print(sorted({'numpy', 'numba', 'pyarrow', 'pyspark'} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"
