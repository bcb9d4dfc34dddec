"""A copy of a checkpoint that goes on elsewhere: whole, on the disk, and at home in its new folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from headwater.hosts.spark.atomic_files import replace_file
from headwater.hosts.spark.checkpoint import lock_folder, refuse_absent
from headwater.hosts.spark.checkpoint_inspection import Inspection, files_of, inspect_files, refuse_damaged
from headwater.hosts.spark.checkpoint_notes import read_notes, unusable
from headwater.hosts.spark.checkpoint_relocation import settle
from headwater.hosts.spark.checksums import checksum_file
from headwater.model import HostError


def copy_checkpoint(folder: Path, to: Path) -> Inspection:
    """Copy a checkpoint that no run is using into a new folder; what was copied, all of it checked."""
    refuse_absent(folder)
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise HostError(
            "checkpoint-foreign",
            f"'{to}' already exists",
            advice=["use a new or empty folder"],
        )
    if to.resolve().is_relative_to(folder.resolve()):
        raise HostError(
            "checkpoint-foreign",
            f"'{to}' is inside the checkpoint '{folder}'",
            advice=["use a folder outside the checkpoint"],
        )
    with lock_folder(folder):
        if read_notes(folder) is None:
            refuse_damaged(folder)  # its notes may be what is missing
        try:
            _copy_files(folder, to)
            settle(to / "spark")
        except OSError as cause:
            raise HostError("cannot-write", f"cannot copy to '{to}': {cause.strerror or cause}") from cause
    copied = inspect_files(to)
    if copied.damaged:
        shutil.rmtree(to)
        name, why = next(iter(copied.damaged.items()))
        raise unusable(folder, f"'{name}': {why}; nothing was copied")
    return copied


def _copy_files(folder: Path, to: Path) -> None:
    """Every file with its checksums. The notes come last: a copy that was cut off is none."""
    notes = folder / "headwater" / "run.json"
    if (folder / "spark").is_dir():
        (to / "spark").mkdir(parents=True)  # also where nothing is in it yet
    for path in [*(path for path in files_of(folder) if path != notes), notes]:
        target = to / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        for source, copy in ((checksum_file(path), checksum_file(target)), (path, target)):
            if source.exists():
                replace_file(copy, source.read_bytes())
