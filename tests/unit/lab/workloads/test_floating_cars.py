"""Floating car data of SUMO is read as a trace, and refused whole when it is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater_lab.workloads.floating_cars import read_floating_cars

HEADER = "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_speed;vehicle_lane\n"
LINES = (
    "60.00;a;100.00;50.00;13.50;A0B0_1\n"
    "60.00;b;120.00;52.00;0.00;:B0_3_0\n"
    "61.00;a;113.50;50.00;13.50;A0B0_0\n"
    "61.50;a;114.00;50.00;13.50;A0B0_0\n"
    "62.00;;;;;\n"
)


def written(folder: Path, text: str) -> Path:
    (folder / "cars.csv").write_text(text)
    return folder / "cars.csv"


def test_reports_second_by_second(tmp_path) -> None:
    trace = read_floating_cars(written(tmp_path, HEADER + LINES))
    assert trace.second.tolist() == [0, 0, 1]
    assert trace.car.tolist() == [0, 1, 0]
    assert trace.x.tolist() == [0.0, 20.0, 13.5] and trace.y.tolist() == [0.0, 2.0, 0.0]
    assert trace.speed.tolist() == [13.5, 0.0, 13.5]
    assert trace.lane.tolist() == [1, 0, 0]
    assert trace.road[0] == trace.road[2] != trace.road[1]


def test_columns_may_come_in_any_order_with_others_between(tmp_path) -> None:
    text = "vehicle_lane;vehicle_angle;timestep_time;vehicle_id;vehicle_speed;vehicle_y;vehicle_x\nr_0;90;5;c;1;2;3\nr_0;90;6;c;1;2;4\n"
    trace = read_floating_cars(written(tmp_path, text))
    assert trace.x.tolist() == [0.0, 1.0] and trace.seconds == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time;x;y\n1;2;3\n", "the columns timestep_time, vehicle_id"),
        (HEADER + "60.00;a;east;50.00;13.50;A0B0_1\n", "the columns timestep_time, vehicle_id"),
        (HEADER + "60.00;a;1;50.00;13.50;A0B0\n", "'A0B0' is not a lane"),
    ],
)
def test_what_is_not_floating_car_data_is_refused(tmp_path, text, words) -> None:
    with pytest.raises(ValueError, match=rf"cars.csv: .*{words}"):
        read_floating_cars(written(tmp_path, text))
