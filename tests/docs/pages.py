"""The code blocks of a page, and what each of them promises. The conventions are in `test_code_blocks.py`."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.apps.cli.commands import run_command
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import CreateStream, Script
from headwater.query.planning.plan import compile_text, refuse_unbounded

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^( *)```(\S*) ?(.*?)\s*$")
_FILE = re.compile(r"[\w.-]+\.[a-z]+")
_COMMAND_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, the words after it, its text, and where it stands."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int
    heading: str

    @property
    def file(self) -> str | None:
        """The name of the file it is, if it is one."""
        return next((word for word in self.words if _FILE.fullmatch(word)), None)


def all_pages() -> list[Path]:
    """README and everything in docs, as far as they have code."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks_of(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    heading, opened, lines = "", None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is None:
            if line.startswith("#"):
                heading = line.lstrip("# ").strip("`")
            if fence:
                opened, lines = (fence, number), []
        elif fence and not fence[2]:
            (begin, first), opened = opened, None
            body = "".join(f"{text.removeprefix(begin[1])}\n" for text in lines)
            yield Block(begin[2], tuple(begin[3].split()), body, first, heading)
        else:
            lines.append(line)


@dataclass(slots=True)
class Page:
    """Runs the blocks of one page, one after the other, in one folder and one Python namespace."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    known: str = ""
    printed: str | None = None
    processes: bool = False
    """Whether each command is a process of its own, as a user starts it; else only those are that need a shell or Spark."""

    def run(self, block: Block) -> None:
        """Do what the block's language asks for."""
        if block.file and block.language != "console":
            (self.folder / block.file).write_text(block.text)
        if block.language == "sql":
            self._sql(block)
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            self._console(block)
        elif block.language == "output":
            assert self.printed is not None, "output without a block that prints"
            assert_alike(self.printed, block.text)

    def _sql(self, block: Block) -> None:
        if "refused" in block.words:
            self._refused(block)
            return
        script, errors = parse(block.text)
        assert not errors, f"{errors[0]}"
        own = {statement.name for statement in script.statements}
        before = [statement for statement in parse(self.known)[0].statements if statement.name not in own]
        whole = show(Script((*before, *script.statements)))
        if any(not isinstance(statement, CreateStream) for statement in (*before, *script.statements)):
            compile_text(whole)
        self.known = whole

    def _refused(self, block: Block) -> None:
        own = {statement.name for statement in parse(block.text)[0].statements}
        before = [
            statement
            for statement in parse(self.known)[0].statements
            if isinstance(statement, CreateStream) and statement.name not in own
        ]
        alone = any(isinstance(statement, CreateStream) for statement in parse(block.text)[0].statements)
        text = ("" if alone else show(Script(tuple(before)))) + "\n" + block.text
        try:
            plan = compile_text(text)
            if "following" in block.words:
                refuse_unbounded(plan)
        except QueriesRefused as refused:
            codes = {error.code for error in refused.errors}
            assert codes == {block.heading}, f"refused as {codes}, not as {block.heading}"
        else:
            raise AssertionError("it is accepted")

    def _python(self, block: Block) -> None:
        output = io.StringIO()
        text = block.text
        for file in self.folder.iterdir():  # Spark looks for relative names where it was started
            text = text.replace(f'"{file.name}"', repr(str(file)))
        code = compile("\n" * block.line + text, "page", "exec")
        with contextlib.redirect_stdout(output), contextlib.chdir(self.folder):
            exec(code, self.names)
        self.printed = output.getvalue()

    def _console(self, block: Block) -> None:
        for command, promised in commands_of(block.text):
            run = _run_process if self.processes or not _is_local(command) else _run_here
            code, printed = run(command, self.folder)
            if promised:
                assert_alike(printed, promised)
            else:
                assert code == 0, printed


def _is_local(command: str) -> bool:
    """Whether a command line is ours alone, without the shell's help and without Spark."""
    return (
        command.startswith("headwater ")
        and not set(command) & set("|<>;&$`*~")
        and (not command.startswith("headwater run ") or "--engine local" in command)
    )


def _run_process(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and both outputs of a command line in a shell."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_COMMAND_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


def _run_here(command: str, folder: Path) -> tuple[int, str]:
    """The same in this process: half of the time of a short command is the start of Python and of compiled code."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), contextlib.chdir(folder):
        code = run_command(shlex.split(command)[1:])
    printed.seek(0)
    return code, printed.read()


def commands_of(text: str) -> list[tuple[str, str]]:
    """The commands of a console block (a line that ends with a backslash goes on) and what each of them prints."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line.removeprefix("$ "), ""])
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] = found[-1][0].removesuffix("\\") + line.strip()
        elif found:
            found[-1][1] += f"{line}\n"
    return [(command, expected) for command, expected in found]


def assert_alike(output: str, expected: str) -> None:
    """Equal line by line; … in a line stands for anything, a line … for any lines."""
    pattern = ""
    for line in expected.strip().splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"\n"
    lines = "".join(f"{line.rstrip()}\n" for line in output.strip().splitlines())
    assert re.fullmatch(pattern, lines), f"this was printed:\n{output}\nand this is promised:\n{expected}"
