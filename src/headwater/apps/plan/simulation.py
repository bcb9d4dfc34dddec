"""Runs the protocol over the readings of a day, twice: as requested, and with everything sent to the centre."""

from __future__ import annotations

from headwater.apps.overlay import Outcome, Standing, simulate
from headwater.apps.overlay.approaches import cover_of
from headwater.apps.plan.report import Carried, Placed, Planned
from headwater.apps.plan.sensor_day import Day, Say
from headwater.apps.plan.subscriptions import Question
from headwater.model import NodeId, Operator
from headwater.protocols.cover import Probable

CENTRALIZED = "centralized"


def make_plan(question: Question, day: Day, approach: str, *, seed: int, say: Say) -> Planned:
    """What an approach comes to on a day, beside sending everything to the centre."""
    standing = [Standing(one.name, one.node, one.operator) for one in question.subscriptions]
    outcomes = []
    for number, name in enumerate((approach, CENTRALIZED), 1):
        say(
            f"{name} ({number} of 2): {len(day.recorded.readings.time):,} readings through {len(question.network.nodes):,} nodes"
        )
        outcomes.append(simulate(question.network, name, standing, day.recorded, seed=seed))
    ours, centre = outcomes
    return Planned(
        question,
        day,
        _carried(approach, ours),
        _carried(CENTRALIZED, centre),
        question.network.centre(),
        _placed(ours),
        expected=ours.expected,
        missed=ours.missed,
        wrong=ours.wrong + ours.twice,
        may_lose=isinstance(cover_of(approach), Probable),
        centre_missed=centre.missed,
        tells=tuple((tell.subscription, tell.error) for tell in ours.tells),
        refused=tuple(report.error for report in ours.reported),
        counts=ours.counts,
        settled=ours.settled,
    )


def _carried(approach: str, outcome: Outcome) -> Carried:
    return Carried(
        approach,
        outcome.link_subscriptions,
        outcome.link_events,
        outcome.subscription_bytes,
        outcome.event_bytes,
    )


def _placed(outcome: Outcome) -> list[Placed]:
    return [
        Placed(node, _who(node, side, operator), operator)
        for node, stands in outcome.operators.items()
        for side, operator in stands
    ]


def _who(node: NodeId, side: NodeId, operator: Operator) -> str:
    """A neighbour, or a user at the node itself: a subscription begins with the name of its user."""
    return f"{operator.subscription.partition('/')[0]} (user)" if side == node else side
