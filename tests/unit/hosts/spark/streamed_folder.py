"""A folder that is followed without Spark: what was read of it, look by look, and what was told."""

from __future__ import annotations

from pathlib import Path

from headwater.hosts.files.folder_watch import Watch
from headwater.hosts.spark.entry_rows import read_entry
from headwater.hosts.spark.file_log import Entry, FileLog
from headwater.hosts.spark.streamed_files import StreamedFiles
from headwater.query.planning.plan import compile_text

PLAN = compile_text(
    "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, note STRING);"
    "CREATE QUERY every AS SELECT * FROM weather;"
)
HEADER = "station,at,note\n"


def row(number: int, note: str = "") -> str:
    """The text of a row, with a line end, that is like no other."""
    return f"s{number},2026-01-31T06:{number // 60:02d}:{number % 60:02d}Z,{note}\n"


def json_row(number: int) -> str:
    return f'{{"station": "s{number}", "at": "2026-01-31T06:{number // 60:02d}:{number % 60:02d}Z", "note": ""}}\n'


class Followed:
    """A folder `in` and the notes about it; `restart` forgets all that is not on disk."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = self.path = tmp_path / "in"
        self.folder.mkdir()
        self.notes = tmp_path / "files"
        self.taken = 0
        self.now = 0
        self.restart()

    def restart(self) -> None:
        log, watch = FileLog(self.notes, "weather=in"), Watch(str(self.path))
        self.files = StreamedFiles(log, watch, PLAN.stream("weather").types)

    def look(self, *, seconds: float = 1, final: bool = False) -> list[Entry]:
        """The entries that are new after so many seconds more."""
        self.now += int(seconds * 1_000_000)
        self.files.look(now=self.now, final=final)
        new = [self.files.log.entries[number] for number in range(self.taken, self.files.log.count)]
        self.taken = self.files.log.count
        return new

    def read(self, *, seconds: float = 1, final: bool = False) -> tuple[list[str], list[str]]:
        """The stations of new rows, and what was told (the code, and the line where there is one)."""
        return self.rows_of(self.look(seconds=seconds, final=final))

    def rows_of(self, entries: list[Entry]) -> tuple[list[str], list[str]]:
        return rows_of(self.files.watch.root, entries)


def rows_of(root: str, entries: list[Entry]) -> tuple[list[str], list[str]]:
    stations: list[str] = []
    reasons: list[str] = []
    for entry in entries:
        for piece in read_entry(PLAN, "weather", root, entry):
            stations += piece.rows["station"].tolist()
            reasons += [
                f"{bad['reason'].partition(':')[0]} {bad['line'] or ''}".strip() for bad in piece.bad.tolist()
            ]
    return stations, reasons
