"""The demo from start to summary: feed, Spark, queries, view."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.apps.demo.feed import Feed
from headwater.apps.demo.view import Figures, View, open_view
from headwater.hosts.files import json_lines
from headwater.hosts.temporary_folders import temporary_folder
from headwater.query.planning.plan import compile_text

if TYPE_CHECKING:
    from headwater.hosts.spark.zone_report import ZoneReport

PREPARING_S = 30.0


def run_demo(*, seconds: float, seed: int, debug: bool) -> int:
    """Watch the valley for so many seconds once Spark is there; 0 if the queries answered, 1 if they did not."""
    figures = Figures()
    view = open_view()
    try:
        with temporary_folder("demo") as held:
            _watch(held.path, figures, view, seconds=seconds, seed=seed, debug=debug)
    except KeyboardInterrupt:
        pass
    finally:
        view.close()
    print("\n".join(figures.summary()))
    print(f"The queries: {files('headwater.apps.demo') / 'queries.hw'}", flush=True)
    _finish_preparing()
    return 0 if figures.answers else 1


def _finish_preparing() -> None:
    """The next start is quicker with a class archive, which is made once."""
    from headwater.hosts.spark.session import finish_preparing

    with suppress(KeyboardInterrupt):
        finish_preparing(within_s=PREPARING_S)


def _watch(folder: Path, figures: Figures, view: View, *, seconds: float, seed: int, debug: bool) -> None:
    inbox = folder / "readings"
    inbox.mkdir()
    feed = Feed(inbox, seed)
    feed.start()
    view.say("Starting Spark …")
    from headwater.hosts.kernel_preparation import prepare_for
    from headwater.hosts.spark.checkpoint import hold
    from headwater.hosts.spark.file_runs import run_streaming
    from headwater.hosts.spark.session import embedded_spark, prepare_next_start

    plan = compile_text((files("headwater.apps.demo") / "queries.hw").read_text(), zones=2)
    with (
        prepare_for(plan, view.say) as preparing,
        embedded_spark(debug=debug, small=True) as spark,
        hold(folder / "checkpoint", plan) as checkpoint,
    ):

        def each(zones: Sequence[ZoneReport], batch: int) -> None:
            answers = [
                line
                for zone in zones
                for rows in zone.output.answers
                for line in json_lines(rows).to_pylist()
            ]
            parsed = [json.loads(line) for line in answers]
            named = Counter(answer["query"] for answer in parsed)
            figures.take(sum(zone.seen for zone in zones), named, last_of_each(parsed))

        query = run_streaming(spark, plan, {"weather": [str(inbox)]}, each, checkpoint=checkpoint)
        told = False
        try:
            while figures.streaming_since is None or time.monotonic() - figures.streaming_since < seconds:
                if query.awaitTermination(0.1):
                    break
                if preparing.is_over and not told:
                    told = True
                    view.say("Spark is running; waiting for the first readings …")
                view.show(figures)
                if figures.first_answer_s is not None:
                    feed.begin()
                    prepare_next_start(spark)
        finally:
            feed.stop()
            query.stop()


def last_of_each(answers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The last answer of each query, in the order of time: those that answer seldom are seen beside those that answer often."""
    ordered = sorted(answers, key=lambda answer: answer["event_time"])
    return sorted(
        {answer["query"]: answer for answer in ordered}.values(), key=lambda answer: answer["event_time"]
    )
