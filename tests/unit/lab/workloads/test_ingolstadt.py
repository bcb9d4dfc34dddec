"""Recorded traffic is read second by second and refused whole when it is something else."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from headwater.model import SECOND, format_instant
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.ingolstadt import TRAFFIC_FILE, TRAFFIC_TEXT, read_traffic

DATA = Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[5] / "shared" / "data"))
HEADER = (
    "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed;vehicle_pos;vehicle_lane;"
    "vehicle_edge;vehicle_slope\n"
)
LINES = (
    "57600.00;van:1;213210.24;451868.43;201.87;default_016;13.17;5.10;201089423#0_1;;0.00\n"
    "57600.50;car:1;213092.73;451134.53;338.65;default_016;13.89;5.10;124812856#0_2;;0.00\n"
    "57600.00;car:1;213092.50;451134.00;338.65;default_016;13.50;5.10;124812856#0_2;;0.00\n"
)


def written(folder: Path, text: str) -> Path:
    (folder / "fcd.csv").write_text(text)
    return folder / "fcd.csv"


def test_positions_by_time_then_by_vehicle(tmp_path) -> None:
    rows = read_traffic(written(tmp_path, HEADER + LINES))
    assert rows["vehicle"].tolist() == ["car:1", "van:1", "car:1"]
    assert [format_instant(at) for at in rows["at"].tolist()] == [
        "2026-01-01T16:00:00Z",
        "2026-01-01T16:00:00Z",
        "2026-01-01T16:00:00.500000Z",
    ]
    assert rows["x"].tolist() == [213092.5, 213210.24, 213092.73]
    assert rows["y"].tolist() == [451134.0, 451868.43, 451134.53]
    assert rows["speed"].tolist() == [13.5, 13.17, 13.89]


def test_it_may_be_packed(tmp_path) -> None:
    (tmp_path / "fcd.csv.gz").write_bytes(gzip.compress((HEADER + LINES).encode()))
    assert read_traffic(tmp_path / "fcd.csv.gz").count == 3


def test_rows_are_those_of_the_stream_the_text_says(tmp_path) -> None:
    plan = compile_text(TRAFFIC_TEXT + "CREATE QUERY q AS SELECT vehicle FROM traffic;")
    assert dict(plan.streams[0].columns) == read_traffic(written(tmp_path, HEADER + LINES)).types


@pytest.mark.parametrize(
    "line",
    [
        "57600.00;van:1;1.0;2.0\n",
        "57600.00;;1.0;2.0;0;t;1.0;0;l;;0\n",
        "57600.00;van:1;east;2.0;0;t;1.0;0;l;;0\n",
        "57600.00;van:1;nan;2.0;0;t;1.0;0;l;;0\n",
    ],
)
def test_a_line_that_is_something_else_is_named(tmp_path, line: str) -> None:
    with pytest.raises(ValueError, match=r"fcd\.csv, line 5: a time in seconds"):
        read_traffic(written(tmp_path, HEADER + LINES + line))


def test_another_header_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"fcd\.csv, line 1: the header timestep_time;"):
        read_traffic(written(tmp_path, LINES))


def test_the_recorded_quarter_of_an_hour() -> None:
    if not (DATA / TRAFFIC_FILE).is_file():
        pytest.skip("the Ingolstadt trace is not there")
    rows = read_traffic(DATA / TRAFFIC_FILE)
    assert rows.count == 241_770
    assert rows["vehicle"].names is not None and len(rows["vehicle"].names) == 1_027
    at = rows["at"].values
    assert (int(at[-1]) - int(at[0])) // SECOND == 899 and (np.diff(at) >= 0).all()
