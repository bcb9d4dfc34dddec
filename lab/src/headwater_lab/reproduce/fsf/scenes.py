"""Where the approaches are compared: four networks with their sensors, readings and subscriptions, and variants of them.

Settings 1 to 4 are the paper's. Beside them: the second with regions that differ and overlap, and with subscriptions that take more or
less of what they are about; and networks that grow to ten times the paper's.

What the paper does not say is chosen here: a station measures every ten minutes within a minute and a half, δt is five minutes, each
node is home to a user as likely as any other, and a subscription matches between `Load.least` and `Load.most` of the readings of its
station: 10 to 40 %, as a reading of "medium selectivity". Margins in event load hang on that last choice: the less a subscription
matches, the more multi-join lets pass in vain. It was the first choice, was changed to 5 to 20 % after an estimate of event loads, and
changed back when both had been simulated, so margins in event load are no independent confirmation of the paper's. The variants show
other choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headwater.model import Network
from headwater.workloads.station_subscriptions import Load, Standing, make_standing
from headwater.workloads.stations import EVERY_S, SPACING_M, Recorded, make_stations
from headwater.workloads.tree_networks import make_network
from headwater_lab.workloads.polkura import read_stations

SEED: Final = 5


@dataclass(frozen=True, slots=True)
class Setting:
    """A network and its subscriptions."""

    name: str
    nodes: int
    stations: int
    load: Load

    @property
    def sensors(self) -> int:
        """Five at each station."""
        return 5 * self.stations


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a simulation needs but an approach. `standing`: as many as any simulation here takes."""

    setting: Setting
    network: Network
    recorded: Recorded
    standing: tuple[Standing, ...]


PAPER: Final = (
    Setting("small", 60, 10, Load(fewest=3)),
    Setting("medium", 100, 10, Load()),
    Setting("large network", 200, 10, Load()),
    Setting("many sources", 200, 20, Load()),
)
MEDIUM: Final = PAPER[1]

OVERLAPPING: Final = replace(
    MEDIUM, name="overlapping regions", load=Load(overlapping=True, within_m=1.2 * SPACING_M)
)
SELECTIVE: Final = tuple(
    replace(MEDIUM, name=f"matching {least:.0%} to {most:.0%}", load=Load(least=least, most=most, unit=unit))
    for least, most, unit in ((0.01, 0.05, 0.3), (0.05, 0.2, 0.5), (0.4, 0.8, 1.3))
)


def growing(nodes: int, stations: int) -> Setting:
    """A larger network, with subscriptions like the paper's."""
    return Setting(f"{nodes:,} nodes", nodes, stations, Load())


def make_scene(setting: Setting, *, count: int, hours: float, data: Path | None) -> Scene:
    """A setting over the hours of a recorded week, or over made-up ones if there is none."""
    recorded = (
        make_stations(setting.stations, rounds=round(hours * 3600 / EVERY_S), seed=SEED)
        if data is None
        else read_stations(data, setting.stations, hours=hours, seed=SEED)
    )
    network = make_network(recorded.sources, nodes=setting.nodes, users=setting.nodes, seed=SEED)
    return Scene(setting, network, recorded, make_standing(count, network, recorded, setting.load, seed=SEED))


def make_scenes(sizes: Mapping[Setting, tuple[int, float]], *, data: Path | None) -> dict[str, Scene]:
    """By the names of the settings, for so many subscriptions and hours; growing networks have no records that are large enough."""
    return {
        setting.name: make_scene(
            setting, count=count, hours=hours, data=data if setting.stations <= MOST_RECORDED else None
        )
        for setting, (count, hours) in sizes.items()
    }


MOST_RECORDED: Final = 20
