"""`--metrics FILE`: how a run that goes on is doing, for those who watch it by machine.

The file is one JSON object, replaced whole after every micro-batch: it never grows, and a reader never sees half of it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater.hosts.run_reports.summary import Summary
from headwater.hosts.spark.atomic_files import replace_file
from headwater.model import BEGINNING, END, HostError, format_instant


def write_metrics(path: Path, summary: Summary, batch: int) -> None:
    """What came and what is remembered, up to this micro-batch."""
    metrics = {
        "written": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "batch": batch,
        "rows": summary.seen,
        "answers": dict(summary.answers),
        "late": dict(summary.late),
        "bad": dict(summary.bad),
        "unusable": dict(summary.unusable),
        "changed": dict(summary.changed),
        "counts": dict(summary.counts),
        "state": _state(summary),
    }
    try:
        replace_file(path, (json.dumps(metrics, ensure_ascii=False) + "\n").encode())
    except OSError as fault:
        raise HostError("cannot-write", f"cannot write to '{path}': {fault.strerror or fault}") from fault


def _state(summary: Summary) -> dict[str, Any]:
    """By the queries that it is for: bytes, rows, keys and the event time of the oldest."""
    return {
        name: {
            "bytes": size.size,
            "rows": size.rows,
            "keys": size.keys,
            "oldest": format_instant(size.oldest) if BEGINNING < size.oldest < END else None,
        }
        for name, size in summary.state.items()
    }
