"""How is a node of an approach made, and made again from what it saved?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from headwater.apps.overlay.approaches import cover_of, policies
from headwater.apps.overlay.measured_cover import Watched
from headwater.kernels.correlate.members import MemberMatcher
from headwater.model import Network, NodeId
from headwater.protocols.broker import Broker, BrokerSettings
from headwater.protocols.cover import Exact, Probable

_TRUTH: Final = Exact(budget=10_000_000)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the brokers of one network. All of them share `watched`, the cover of the approach, where it has one."""

    network: Network
    approach: str
    settings: BrokerSettings
    seed: int
    watched: Watched | None
    _beside: dict[NodeId, tuple[NodeId, ...]] = field(repr=False)
    _towards: dict[NodeId, NodeId] = field(repr=False)
    _matcher: MemberMatcher = field(repr=False)

    def __call__(self, node: NodeId) -> Broker:
        """A node that knows nothing yet."""
        centre = self._towards.get(node)
        return Broker(
            node,
            self._beside[node],
            approach=policies(self.approach, self.watched, towards_centre=centre, seed=self.seed),
            matcher=self._matcher,
            settings=self.settings,
        )

    def all(self) -> dict[NodeId, Broker]:
        """One for each node of the network."""
        return {node: self(node) for node in self.network.nodes}

    def revive(self, saved: dict[str, Any]) -> Broker:
        """A node that goes on from what it saved."""
        core = self(saved["name"])
        core.restore(saved)
        return core


def maker_of(
    network: Network, approach: str, settings: BrokerSettings, *, seed: int = 0, judge_all: bool = False
) -> Maker:
    """How nodes are made. Cover decisions are judged where the cover may err; with `judge_all` wherever there is one."""
    cover = cover_of(approach)
    truth = _TRUTH if judge_all or isinstance(cover, Probable) else None
    watched = None if cover is None else Watched(cover, truth)
    towards = network.towards(network.centre()) if approach == "centralized" else {}
    return Maker(network, approach, settings, seed, watched, network.neighbours(), towards, MemberMatcher())
