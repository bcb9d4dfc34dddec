"""A byte that changed in any file of a checkpoint ends in a refusal with advice or in the right answers, never in loss.

What is read before Spark is started is tried without it, at many places of each file. Spark's own state files are tried by running: a
few in `make test`; `make soak` tries HEADWATER_SOAK_FLIPS of them, and all other files too, at places drawn from HEADWATER_SOAK_SEED.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.checkpoint_copy import copy_checkpoint
from headwater.hosts.spark.checkpoint_inspection import inspect_files
from headwater.model import HostError
from headwater.query.planning.plan import compile_text
from tests.spark.embedded import Commands, commands_on
from tests.spark.test_other_cores import KEYS, TEXT, first_rows, second_rows
from tests.spark.valley import read_answers

SEED = int(os.environ.get("HEADWATER_SOAK_SEED", 20261118))
RUNS = int(os.environ.get("HEADWATER_SOAK_FLIPS", 3))
EACH = 5
pytestmark = pytest.mark.soak

EXPECTED = sorted(f"k{n}" for n in range(KEYS))


@pytest.fixture(scope="module")
def world(spark, tmp_path_factory) -> Path:
    """A folder with a checkpoint in `state` that has one batch behind it, and rows for the next."""
    from headwater.hosts.spark.file_runs import run_streaming
    from headwater.hosts.spark.streaming import StreamingOptions

    folder = tmp_path_factory.mktemp("damaged")
    first_rows(folder / "in")
    plan = compile_text(TEXT, zones=4)
    with hold(folder / "state", plan) as held:
        inputs = {"s": [str(folder / "in")]}
        run_streaming(
            spark,
            plan,
            inputs,
            lambda zones, batch: None,
            checkpoint=held,
            options=StreamingOptions(once=True),
        ).awaitTermination()
    second_rows(folder / "in")
    (folder / "q.hw").write_text(TEXT)
    return folder


def files_in(state: Path) -> list[Path]:
    return [
        path.relative_to(state) for path in sorted(state.rglob("*")) if path.is_file() and path.stat().st_size
    ]


def is_state(file: Path) -> bool:
    """Whether only Spark reads a file, and not before it runs."""
    return file.parts[:2] == ("spark", "state") and not file.parts[3].startswith("_")


def flip(path: Path, choose: random.Random) -> int:
    """Change one byte; which."""
    data = bytearray(path.read_bytes())
    at = choose.randrange(len(data))
    data[at] ^= choose.randint(1, 255)
    path.write_bytes(data)
    return at


def test_flips_in_every_file_are_found_by_verifying(world: Path, tmp_path: Path) -> None:
    choose = random.Random(SEED)
    shutil.copytree(world / "state", tmp_path / "state")
    assert inspect_files(tmp_path / "state").damaged == {}
    for file in files_in(world / "state"):
        whole = (world / "state" / file).read_bytes()
        for _ in range(EACH):
            at = flip(tmp_path / "state" / file, choose)
            found = inspect_files(tmp_path / "state").damaged
            named = [Path(name) for name in found] == [checked_by(file)]
            assert named or (found and is_of_inputs(file)) or says_the_same(file, whole, at), (file, at)
            (tmp_path / "state" / file).write_bytes(whole)


def is_of_inputs(file: Path) -> bool:
    """Whether it is about inputs, which are named instead of the file."""
    return file.parts[:2] == ("headwater", "files")


def checked_by(file: Path) -> Path:
    """The file whose damage a damaged one shows as."""
    return file.with_name(file.name[1:-4]) if file.name.endswith(".crc") else file


def says_the_same(file: Path, whole: bytes, at: int) -> bool:
    """Whether a byte may be another: white space between our notes, and the size of pieces that a small file has one of."""
    if file.name.endswith(".crc"):
        return 4 <= at < 8
    return file.name == "run.json" and whole[at : at + 1].isspace()


def test_flips_in_what_is_read_first_are_refused_before_spark_starts(world: Path, tmp_path: Path) -> None:
    choose = random.Random(SEED)
    plan = compile_text(TEXT, zones=4)
    state = tmp_path / "state"
    shutil.copytree(world / "state", state)
    hold(state, plan).release()
    for file in [file for file in files_in(state) if file.parts[0] == "spark" and not is_state(file)]:
        whole = (state / file).read_bytes()
        for _ in range(EACH):
            if not says_the_same(file, whole, flip(state / file, choose)):
                with pytest.raises(HostError) as refused:
                    hold(state, plan)
                assert refused.value.code == "state-unreadable"
                assert refused.value.message.endswith("': it was changed after it was written")
                assert refused.value.advice == (
                    "restore it from a copy, or start with a new --checkpoint folder",
                )
            (state / file).write_bytes(whole)
    hold(state, plan).release()


@pytest.mark.parametrize(
    ("deleted", "missing"),
    [
        (["spark"], "spark"),
        (["spark/metadata"], "spark/metadata"),
        (["spark/*"], "spark/metadata"),
        (["spark/offsets/0"], "spark/offsets"),
        (["spark/offsets", "spark/commits"], "spark/offsets"),
        (["spark/state"], "spark/state"),
        (["spark/state/0"], "spark/state/0"),
        (["spark/state/0/_metadata"], "spark/state/0/_metadata"),
        (["spark/state/0/_stateSchema"], "spark/state/0/_stateSchema"),
        (["spark/state/0/1"], "spark/state/0/1"),
        (["headwater/run.json"], "headwater/run.json"),
    ],
)
def test_what_is_missing_is_refused(world: Path, tmp_path: Path, deleted: list[str], missing: str) -> None:
    state = tmp_path / "state"
    shutil.copytree(world / "state", state)
    for path in [path for pattern in deleted for path in state.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert next(iter(inspect_files(state).damaged.items())) == (missing, "it is missing")
    with pytest.raises(HostError) as refused:
        hold(tmp_path / "state", compile_text(TEXT, zones=4))
    assert str(refused.value).splitlines() == [
        f"error[state-unreadable]: the checkpoint '{tmp_path / 'state'}' cannot be used: '{missing}': it is missing",
        "  restore it from a copy, or start with a new --checkpoint folder",
    ]


def test_a_checkpoint_without_its_notes_is_neither_shown_nor_copied(
    world: Path, tmp_path: Path, spark, monkeypatch, capfd
) -> None:
    headwater = commands_on(spark, monkeypatch, capfd)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(world / "state", "state")
    Path("state/headwater/run.json").unlink()
    refusal = [
        "error[state-unreadable]: the checkpoint 'state' cannot be used: 'headwater/run.json': it is missing",
        "  restore it from a copy, or start with a new --checkpoint folder",
    ]
    for words in (("info", "state"), ("copy", "state", "to")):
        assert headwater("checkpoint", *words) == 1
        assert headwater.err == refusal
    assert headwater("checkpoint", "verify", "state") == 1
    assert headwater.err == [
        "error[state-unreadable]: the checkpoint 'state' is damaged",
        "  headwater/run.json: it is missing",
        *refusal[1:],
    ]


def test_a_checkpoint_that_was_taken_before_spark_began_is_taken_again(tmp_path: Path) -> None:
    plan = compile_text(TEXT, zones=4)
    hold(tmp_path / "state", plan).release()
    hold(tmp_path / "state", plan).release()
    assert copy_checkpoint(tmp_path / "state", tmp_path / "copy").damaged == {}
    hold(tmp_path / "copy", plan).release()


def test_runs_with_a_flipped_byte_are_refused_or_right(world: Path, spark, monkeypatch, capfd) -> None:
    monkeypatch.chdir(world)
    headwater = commands_on(spark, monkeypatch, capfd)
    outcomes = [_outcome(headwater, number, file) for number, file in enumerate(_chosen(world))]
    print(f"seed {SEED}: {len(outcomes)} flips, {outcomes.count('refused')} refused")
    assert set(outcomes) <= {"refused", "right"}


def _chosen(world: Path) -> Iterator[Path]:
    choose = random.Random(SEED)
    files = files_in(world / "state")
    state = [file for file in files if is_state(file)]
    yield from (choose.choice(state if number % 2 == 0 or RUNS <= 3 else files) for number in range(RUNS))


def _outcome(headwater: Commands, number: int, file: Path) -> str:
    """What comes of a run of a copy with one byte changed."""
    state, out = f"state-{number}", f"out-{number}"
    shutil.copytree("state", state)
    at = flip(Path(state) / file, random.Random(SEED + number))
    code = headwater(
        "run", "q.hw", "--input", "s=in", "--follow", "--once", "--checkpoint", state, "--output", out, "--quiet"
    )  # fmt: skip
    said = f"{file}, byte {at}: exit code {code}\n" + "\n".join([*headwater.out, *headwater.err])
    if code == 0:
        assert sorted(str(answer["id"]) for answer in read_answers(Path(out))) == EXPECTED, said
        return "right"
    assert code == 1, said
    assert headwater.err[0].startswith("error[state-unreadable]: "), said
    assert len(headwater.err) > 1, said
    assert not any("Traceback" in line for line in headwater.err), said
    return "refused"
