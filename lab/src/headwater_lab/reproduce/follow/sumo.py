"""Traffic by SUMO, where it is installed (`pip install 'headwater-lab[sumo]'`): a network, vehicles on it, and where they are every second.

Rule 1  SUMO is found as the Python package `sumo`, whose programs are called; nothing of it is imported.
Rule 2  The network is a file, or a grid of streets with lights that SUMO's `netgenerate` makes.
Rule 3  Vehicles are those of the routes beside the network (`NAME.rou.xml` beside `NAME.net.xml`), `WARM_UP_S` seconds after the first
        of them; without routes as many as are needed start within `COME_S` seconds, anywhere, and drive by way of some other roads, so that
        most are there to the end.
Rule 4  One of `CRASH_SHARE` vehicles brakes hard and stops in the middle of a road with several lanes, for a minute; they come one by one.
Rule 5  The same seed gives the same traffic with the same SUMO.
"""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np

from headwater.model import DataError, HostError
from headwater_lab.workloads.floating_cars import ATTRIBUTES, read_floating_cars
from headwater_lab.workloads.town import CRASH_S, CRASH_SHARE, Town
from headwater_lab.workloads.traces import Trace

COME_S: Final = 60
WARM_UP_S: Final = 600
BY_WAY_OF: Final = 3
MIN_ROAD_M: Final = 60.0


@dataclass(frozen=True, slots=True)
class Sumo:
    """Where its programs are."""

    home: Path

    @property
    def words(self) -> str:
        """Which one it is."""
        try:
            return f"SUMO {version('eclipse-sumo')}"
        except PackageNotFoundError:
            return "SUMO"

    def call(self, program: str, *options: str, folder: Path) -> None:
        """Run one of its programs; what it complains about is in the error."""
        command = [str(self.home / "bin" / program), *options]
        ran = subprocess.run(
            command,
            cwd=folder,
            env={"SUMO_HOME": str(self.home)},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise HostError(
                "sumo-failed",
                f"SUMO's '{program}' ended with {ran.returncode}",
                advice=[line for line in ran.stderr.splitlines() if line.strip()][-3:],
            )


@dataclass(frozen=True, slots=True)
class _Road:
    """A road that cars may take: its name, lanes and length."""

    name: str
    lanes: int
    length_m: float


def find_sumo() -> Sumo | None:
    """The installed SUMO; None if there is none."""
    spec = find_spec("sumo")
    places = list(spec.submodule_search_locations or ()) if spec else []
    homes = [Path(place) for place in places if (Path(place) / "bin" / "sumo").is_file()]
    return Sumo(homes[0].absolute()) if homes else None


def drive_on_sumo(
    sumo: Sumo, network: Path | None, vehicles: int, seconds: int, *, seed: int, folder: Path
) -> Trace:
    """So many vehicles for so many seconds, on a network or in a grid town; files are left in the folder."""
    if network is None:
        network = folder / "town.net.xml"
        _make_grid(sumo, network, folder)
    roads, random = read_roads(network), np.random.default_rng([seed, 6])
    routes_file = network.with_name(network.name.removesuffix(".net.xml") + ".rou.xml")
    crashing = vehicles // CRASH_SHARE
    if routes_file.is_file():
        routes, begins, warm_up = [str(routes_file.absolute())], _first_departure(routes_file), WARM_UP_S
    else:
        _write_routes(folder / "others.rou.xml", _others(roads, vehicles - crashing, random))
        routes, begins, warm_up = ["others.rou.xml"], 0, COME_S
    from_second = begins + warm_up
    _write_routes(folder / "crashes.rou.xml", _crashes(roads, crashing, from_second, seconds, random))
    sumo.call(
        "sumo",
        *("--net-file", str(network.absolute()), "--route-files", ",".join([*routes, "crashes.rou.xml"])),
        *("--begin", str(begins), "--end", str(from_second + seconds), "--seed", str(seed)),
        *("--max-num-vehicles", str(vehicles), "--ignore-route-errors", "true"),
        *("--fcd-output", "cars.csv", "--fcd-output.attributes", ",".join(ATTRIBUTES)),
        *("--device.fcd.begin", str(from_second), "--no-step-log", "true", "--no-warnings", "true"),
        *("--xml-validation", "never"),
        folder=folder,
    )
    return read_floating_cars(folder / "cars.csv")


def read_roads(network: Path) -> Sequence[_Road]:
    """The roads of a network that cars may take, from its beginning to its end."""
    found: list[_Road] = []
    try:
        for _, edge in ElementTree.iterparse(network):
            if edge.tag == "edge":
                found += _road(edge)
                edge.clear()
    except (ElementTree.ParseError, ValueError, KeyError) as fault:
        raise DataError("not-roads", f"'{network}' is not a SUMO network: {fault}") from fault
    if len(found) < 2:
        raise DataError("not-roads", f"'{network}' is not a SUMO network: it has no roads for cars")
    return found


def _road(edge: ElementTree.Element) -> Iterator[_Road]:
    lanes = [lane for lane in edge.iter("lane") if _takes_cars(lane)]
    if edge.get("function", "normal") == "normal" and lanes:
        yield _Road(edge.attrib["id"], len(list(edge.iter("lane"))), float(lanes[0].attrib["length"]))


def _takes_cars(lane: ElementTree.Element) -> bool:
    allowed, refused = lane.get("allow", "all").split(), lane.get("disallow", "").split()
    return ("all" in allowed or "passenger" in allowed) and not {"all", "passenger"} & set(refused)


def _make_grid(sumo: Sumo, network: Path, folder: Path) -> None:
    town = Town()
    across, along = (str(blocks + 1) for blocks in town.blocks)
    sumo.call(
        "netgenerate",
        *("--grid", "--grid.x-number", across, "--grid.y-number", along),
        *("--grid.length", f"{town.block_m:g}", "--default.lanenumber", "2"),
        *("--default.speed", f"{town.speed_mps:g}", "--default-junction-type", "traffic_light"),
        *("--output-file", str(network), "--xml-validation", "never"),
        folder=folder,
    )


def _first_departure(routes: Path) -> int:
    """When the first vehicle of a file of routes sets off, in seconds."""
    for _, element in ElementTree.iterparse(routes, events=("start",)):
        if "depart" in element.attrib:
            return int(float(element.attrib["depart"]))
    return 0


def _others(roads: Sequence[_Road], vehicles: int, random: np.random.Generator) -> Iterator[str]:
    for number in range(vehicles):
        names = [roads[at].name for at in random.choice(len(roads), BY_WAY_OF + 2).tolist()]
        yield (
            f'<trip id="{number}" depart="{number * COME_S / vehicles:.2f}" departPos="random" departSpeed="max" '
            f'departLane="best" from="{names[0]}" via="{" ".join(names[1:-1])}" to="{names[-1]}"/>'
        )


def _crashes(
    roads: Sequence[_Road], vehicles: int, begins: int, seconds: int, random: np.random.Generator
) -> Iterator[str]:
    wide = [road for road in roads if road.lanes > 1 and road.length_m >= MIN_ROAD_M]
    yield '<vType id="crashing" decel="9" emergencyDecel="9"/>'
    for number in range(vehicles if wide else 0):
        road, goal = wide[int(random.integers(len(wide)))], roads[int(random.integers(len(roads)))]
        lane = road.lanes - 1
        yield (
            f'<trip id="crash-{number}" type="crashing" depart="{begins + number * seconds / vehicles:.2f}" '
            f'departSpeed="max" departLane="{lane}" from="{road.name}" to="{goal.name}">'
            f'<stop lane="{road.name}_{lane}" endPos="{road.length_m / 2:.1f}" duration="{CRASH_S}"/></trip>'
        )


def _write_routes(path: Path, lines: Iterator[str]) -> None:
    path.write_text("\n".join(["<routes>", *lines, "</routes>"]), encoding="utf-8")
