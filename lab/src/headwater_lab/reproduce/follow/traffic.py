"""Where does the traffic come from? SUMO on a network of the user, SUMO in a grid town, or, without SUMO, the project's own town.

Rule 1  A network that the user names needs SUMO. One that is only found (in the folder that HEADWATER_DATA names) is ignored without it.
Rule 2  Files are Parquet, one a stream: `reports` of all vehicles, `sightings` of cameras, `posts` on a grid.
Rule 3  One of `CLUB_SHARE` vehicles is in the club of friends, the drivers among them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headwater.model import SECOND, DataError
from headwater_lab.reproduce.follow.questions import CLUB
from headwater_lab.reproduce.follow.sumo import Sumo, drive_on_sumo
from headwater_lab.reproduce.outcome import Say
from headwater_lab.workloads.moving_objects import START
from headwater_lab.workloads.town import drive
from headwater_lab.workloads.traces import Floats, Sightings, Trace, see

NETWORK_FILE: Final = Path("sumo-ingolstadt") / "ingolstadt21.net.xml"
CAMERA_APART_M: Final = 200.0
CAMERA_SIDE_M: Final = 100.0
POST_APART_M: Final = 100.0
CLUB_SHARE: Final = 20
FILES: Final = 4


@dataclass(frozen=True, slots=True)
class Source:
    """Who makes the traffic; without a network SUMO makes one, and without SUMO it is the project's own town."""

    sumo: Sumo | None
    network: Path | None

    def __str__(self) -> str:
        if self.sumo is None:
            return "the project's own town"
        return f"{self.sumo.words}, {self.network.name if self.network else 'a grid town of netgenerate'}"


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traces of one seed with their files by stream."""

    trace: Trace
    sightings: Sightings
    files: Mapping[str, Path]


def choose_source(sumo: Sumo | None, network_file: Path | None, data: Path) -> Source:
    """By what there is; `data` is the folder of recorded data."""
    if network_file is not None and sumo is None:
        raise DataError(
            "sumo-missing",
            f"'{network_file}' is a network for SUMO, which is not installed",
            advice=["pip install 'headwater-lab[sumo]', or leave --data out: a town of our own is used then"],
        )
    found = data / NETWORK_FILE
    network = network_file or (found if sumo and found.is_file() else None)
    return Source(sumo, network.absolute() if network else None)


def make_traffic(
    source: Source, vehicles: int, seconds: int, drivers: int, *, seed: int, folder: Path, say: Say
) -> Traffic:
    """Traffic of a seed, written to a folder."""
    say(f"making {seconds:,} s of {vehicles:,} vehicles, seed {seed}: {source}")
    if source.sumo is None:
        trace = drive(vehicles, seconds, seed=seed)
    else:
        with tempfile.TemporaryDirectory(prefix="headwater-sumo-") as aside:
            trace = drive_on_sumo(
                source.sumo, source.network, vehicles, seconds, seed=seed, folder=Path(aside)
            )
    if trace.cars < drivers:
        raise DataError(
            "not-roads",
            f"{trace.cars:,} vehicles drive in {source}, and {drivers:,} are to be followed",
            advice=["give a larger network, or one with routes of more vehicles beside it"],
        )
    sightings = see(trace, apart_m=CAMERA_APART_M, side_m=CAMERA_SIDE_M, first_m=POST_APART_M / 2)
    streams = {
        "reports": trace.columns(),
        "sightings": _of_sightings(sightings, drivers),
        "posts": _of_posts(posts(trace)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return Traffic(
        trace, sightings, {name: _write(folder / name, columns) for name, columns in streams.items()}
    )


def posts(trace: Trace) -> Floats:
    """The centres of the squares that make up the town, float64[n, 2]."""
    across, along = (
        np.arange(POST_APART_M / 2, side + POST_APART_M / 2, POST_APART_M) for side in trace.sides_m
    )
    return np.stack(np.meshgrid(across, along), axis=-1).reshape(-1, 2)


def _of_sightings(sightings: Sightings, drivers: int) -> Mapping[str, np.ndarray]:
    is_friend = (sightings.car < drivers) | (sightings.car % CLUB_SHARE == 0)
    return {
        "camera": sightings.camera,
        "at": START + sightings.second * SECOND,
        "x": sightings.x,
        "y": sightings.y,
        "car": sightings.car,
        "club": np.where(is_friend, CLUB, 0),
    }


def _of_posts(places: Floats) -> Mapping[str, np.ndarray]:
    return {
        "post": np.arange(len(places)),
        "at": np.full(len(places), START),
        "x": places[:, 0],
        "y": places[:, 1],
    }


def _write(folder: Path, columns: Mapping[str, Any]) -> Path:
    """Some files, so that several cores read."""
    folder.mkdir(exist_ok=True)
    typed = {
        name: pa.array(values, pa.timestamp("us", "UTC") if name == "at" else None)
        for name, values in columns.items()
    }
    table = pa.table(typed)
    size = max(-(-table.num_rows // FILES), 1)
    for number in range(FILES):
        if part := table.slice(number * size, size):
            pq.write_table(part, folder / f"{number}.parquet")
    return folder
