"""Where does the time of a micro-batch go, Spark aside? The stages of a streaming run one after the other, in one process.

    python benchmarks/stages.py a b c

Prints the processor time of each stage for 200,000 rows, the average over a few micro-batches after the first. What it does
not see is Spark: moving packed rows, handing frames between Python and Java, the state store, planning and committing.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.hosts.files import read_file_rows
from headwater.hosts.spark.packing import blobs_by_zone, unit_of
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.hosts.zone import Output, Program, ZoneState, cells_of, clusters_of, save_zone
from headwater.query.planning.plan import Plan, compile_text
from headwater_lab.bench.correlate import CASES
from headwater_lab.bench.questions import script
from headwater_lab.bench.stations import make_reports, write_reports

ROWS, FILES, PER_BATCH, ZONES, SEED = 800_000, 8, 2, 4, 7
STAGES = ("read", "route", "pack", "unpack", "order", "kernel", "project", "answers", "save")


class Stages:
    """Processor seconds by stage, and counts."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds[stage] += time.process_time() - start

    def forget(self) -> None:
        self.seconds.clear()
        self.counts.clear()


def measure(plan: Plan, files: list[Path]) -> Stages:
    stages = Stages()
    programs = [Program(plan, zone, {"weather": ("weather",)}) for zone in range(ZONES)]
    states = [program.start() for program in programs]
    chunks: list[set[str]] = [set() for _ in programs]
    for start in range(0, len(files), PER_BATCH):
        if start == PER_BATCH:
            stages.forget()  # the first one compiles and warms up
        units = arrive(plan, files[start : start + PER_BATCH], start, stages)
        for zone, program in enumerate(programs):
            if program.groups:
                states[zone] = step(program, states[zone], units[zone], stages)
                chunks[zone] = save(program, states[zone], chunks[zone], stages)
    return stages


def arrive(plan: Plan, files: list[Path], first: int, stages: Stages) -> list[list]:
    schema, routing = plan.stream("weather"), plan.routing("weather")
    units: list[list] = [[] for _ in range(ZONES)]
    for number, file in enumerate(files, first):
        pieces = enumerate(read_file_rows(str(file), schema, plan.columns_read("weather")))
        while True:
            with stages.of("read"):
                place, piece = next(pieces, (0, None))
            if piece is None:
                break
            with stages.of("route"):
                routed = routing(piece.rows)
            with stages.of("pack"):
                blobs = blobs_by_zone(piece.rows, lambda rows, routed=routed: routed, ZONES)
                times = clusters_of(piece.rows[schema.time].values).tobytes()
            stages.counts["rows"] += piece.rows.count
            stages.counts["routed"] += int(routed.sum())
            stages.counts["bytes"] += sum(len(blob) for blob in blobs if blob)
            for zone in range(ZONES):
                with stages.of("unpack"):
                    units[zone].append(unit_of("weather", number, place, times, blobs[zone]))
    return units


def step(program: Program, state: ZoneState, units: list, stages: Stages) -> ZoneState:
    (group,) = program.groups
    with stages.of("order"):
        queue, release = program.queues["weather"].step(state.queues["weather"], units)
    with stages.of("kernel"):
        output = group.kernel.step(state.groups[group.name], release.rows, release.watermark)
    with stages.of("project"):
        blocks = tuple(program.plan.project(answers) for answers in output.answers)
    with stages.of("answers"):
        ZoneReport(Output(blocks), None, 0).packed()
    stages.counts["answers"] += sum(block.count for block in blocks)
    return ZoneState({"weather": queue}, {group.name: output.state})


def save(program: Program, state: ZoneState, before: set[str], stages: Stages) -> set[str]:
    with stages.of("save"):
        saved = save_zone(program, state)
        new = (cells_of(key, chunk) for key, chunk in saved.chunks.items() if key not in before)
        written = [data for cells in new for _, data in cells]
    stages.counts["state bytes"] += len(saved.head) + sum(map(len, written))
    return set(saved.chunks)


def main(letters: list[str]) -> None:
    reports = make_reports(ROWS, seed=SEED)
    with tempfile.TemporaryDirectory() as folder:
        files = write_reports(reports, Path(folder), FILES)
        for letter in letters:
            stages = measure(compile_text(script(CASES[letter].make(reports, SEED)), zones=ZONES), files)
            rows = stages.counts["rows"]
            print(f"({letter}) {CASES[letter].title}; for 200,000 rows:")
            for stage in STAGES:
                print(f"  {stage:<10}{stages.seconds[stage] / rows * 2e8:8.1f} ms")
            print(f"  {'together':<10}{stages.seconds.total() / rows * 2e8:8.1f} ms")
            print(
                f"  a row goes to {stages.counts['routed'] / rows:.2f} zones as {stages.counts['bytes'] / rows:.0f} bytes; "
                f"{stages.counts['answers'] / rows:.3f} answers a row; "
                f"{stages.counts['state bytes'] / rows:.2f} bytes of state a row"
            )


if __name__ == "__main__":
    main(sys.argv[1:] or list(CASES))
