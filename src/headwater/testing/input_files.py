"""The files of a case on disk: one folder for each input, where a run reads them."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from headwater.testing.cases import InputFile


def header_of(file: InputFile) -> list[str]:
    """The columns that rows in the test file have; none if they are written as a file has them."""
    first = next((line for line in file.text.splitlines() if line.strip()), "")
    return [] if file.as_written else [name.strip() for name in next(csv.reader([first]), [])]


def with_all_columns(file: InputFile, columns: Iterable[str]) -> InputFile:
    """Columns that rows in a test file leave out are NULL; without any line there is no row."""
    header = header_of(file)
    left_out = [name for name in columns if name not in header]
    if file.as_written or not left_out:
        return file
    if not header:
        return replace(file, text=",".join(left_out) + "\n")
    first, *lines = file.text.splitlines()
    whole = [",".join([first, *left_out])]
    is_open = False  # a quoted cell goes on in the next line
    for line in lines:
        is_open ^= line.count('"') % 2 == 1
        whole.append(line if is_open else line + "," * len(left_out))
    return replace(file, text="".join(f"{line}\n" for line in whole))


def input_paths(files: Iterable[InputFile], folder: Path) -> dict[str, list[str]]:
    """The inputs of every stream and set: folders, which are made, and files that exist."""
    paths: dict[str, list[str]] = {}
    for file in files:
        place = input_folder(file, folder)
        if file.path is None:
            place.mkdir(parents=True, exist_ok=True)
        if str(place) not in paths.setdefault(file.stream, []):
            paths[file.stream].append(str(place))
    return paths


def write_files(files: Sequence[InputFile], folder: Path) -> list[Path]:
    """Write files, one a second older than the next, so that a folder gives them in their order; points replace what was there."""
    for place in {input_folder(file, folder) for file in files if file.points and file.path is None}:
        shutil.rmtree(place, ignore_errors=True)
    paths = []
    for order, file in enumerate(files):
        if file.path is not None:
            paths.append(file.path)
            continue
        path = input_folder(file, folder) / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding=file.encoding)
        os.utime(path, (1_700_000_000 + order, 1_700_000_000 + order))
        paths.append(path)
    return paths


def input_folder(file: InputFile, folder: Path) -> Path:
    """Where the files of an input are."""
    return file.path or folder / f"{file.stream}-{file.input or 'only'}"
