"""The processor time of a simulated network: `python benchmarks/simulator.py [nodes subscriptions rounds] [approach …]`.

Ten stations of five sensors, as in the paper; by default 200 nodes, 1,000 subscriptions and 2,000 rounds, which are about 98,000 readings.
Every figure comes with what was expected and what came.
"""

from __future__ import annotations

import sys
import time

from headwater.apps.overlay import simulate
from headwater.workloads.station_subscriptions import Load, make_standing
from headwater.workloads.stations import make_stations
from headwater.workloads.tree_networks import make_network

STATIONS = 10
SIZE = (200, 1_000, 2_000)


def main() -> None:
    """One line for each approach."""
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()]
    nodes, subscriptions, rounds = sizes or SIZE
    approaches = [word for word in sys.argv[1:] if not word.isdigit()] or ["exact"]
    recorded = make_stations(STATIONS, rounds=rounds, seed=1)
    network = make_network(recorded.sources, nodes=nodes, users=nodes, seed=1)
    standing = make_standing(subscriptions, network, recorded, Load(), seed=1)
    for approach in approaches:
        start = time.process_time()
        came = simulate(network, approach, standing, recorded, seed=1)
        took = time.process_time() - start
        print(
            f"{approach}: {nodes} nodes, {subscriptions:,} subscriptions, {len(recorded.readings.time):,} readings: {took:.0f} s of one core; "
            f"{came.subscription_load:,} operators and {came.event_load:,} readings over links; recall {came.recall:.6f} of {came.expected:,}, "
            f"{came.wrong} wrong, {came.twice} twice",
            flush=True,
        )


if __name__ == "__main__":
    main()
