"""Floating car data of SUMO as a trace: a line for each vehicle and second, as `sumo --fcd-output FILE.csv` writes it.

Rule 1  The first line names the columns, in any order; required are the time, the vehicle, its x and y, its speed and its lane. Fields are
        parted by semicolons.
Rule 2  A lane is called by its road, `_`, and its number from the right.
Rule 3  Of several reports of a vehicle in one second the first counts.
Rule 4  A file that is not like this is refused whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from headwater_lab.workloads.traces import Trace, trace_of

_COLUMNS: Final[dict[str, Any]] = {
    "timestep_time": pa.float64(),
    "vehicle_id": pa.string(),
    "vehicle_x": pa.float64(),
    "vehicle_y": pa.float64(),
    "vehicle_speed": pa.float64(),
    "vehicle_lane": pa.string(),
}
ATTRIBUTES: Final = ("x", "y", "speed", "lane")
"""What SUMO has to write (`--fcd-output.attributes`)."""


def read_floating_cars(path: Path) -> Trace:
    """All reports of a file; raises ValueError, with the file, if it is not floating car data."""
    try:
        table = pa_csv.read_csv(
            path,
            parse_options=pa_csv.ParseOptions(delimiter=";"),
            convert_options=pa_csv.ConvertOptions(
                include_columns=list(_COLUMNS), column_types=_COLUMNS, strings_can_be_null=True
            ),
        )
    except (pa.ArrowException, KeyError) as fault:
        raise ValueError(
            f"{path.name}: the columns {', '.join(_COLUMNS)} of SUMO's floating car data are required"
        ) from fault
    table = table.drop_null()  # a time without vehicles has a line without them
    second = np.floor(_numbers(table, "timestep_time")).astype(np.int64)
    car = _codes(table.column("vehicle_id"))
    road, lane = _lanes(table.column("vehicle_lane"), path)
    first = np.unique(np.column_stack([second, car]), axis=0, return_index=True)[1] if len(car) else car
    place = np.column_stack([_numbers(table, "vehicle_x"), _numbers(table, "vehicle_y")])
    speed = _numbers(table, "vehicle_speed")
    return trace_of(car[first], second[first], place[first], speed[first], road[first], lane[first])


def _lanes(names: Any, path: Path) -> tuple[Any, Any]:
    """The road and the number of each lane."""
    coded = names.combine_chunks().dictionary_encode()
    parts = pc.extract_regex(coded.dictionary, r"^(?P<road>.+)_(?P<lane>\d+)$")
    if parts.null_count:
        wrong = coded.dictionary.filter(pc.is_null(parts))[0].as_py()
        raise ValueError(f"{path.name}: '{wrong}' is not a lane: a road, '_' and a number are required")
    road = _codes(pc.struct_field(parts, "road"))
    lane = np.asarray(pc.struct_field(parts, "lane").cast(pa.int64()))
    codes = np.asarray(coded.indices)
    return road[codes], lane[codes]


def _codes(texts: Any) -> Any:
    """A number for each different text."""
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return np.asarray(whole.dictionary_encode().indices).astype(np.int64)


def _numbers(table: Any, name: str) -> Any:
    return np.asarray(table.column(name))
