"""The class archive: one is made, once, whole, and the JVM accepts it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from headwater.hosts.spark.class_archive import ABANDONED_AFTER_S, Archive, archive_for
from headwater.hosts.spark.java import Java, find_java
from headwater.hosts.spark.java_process import class_path

JAVA = find_java()


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    """A list of a few hundred classes, one of them Spark's, written as the JVM writes it."""
    listed = tmp_path / "listed"
    options = [
        "-cp",
        path_of(class_path()),
        "org.apache.spark.launcher.Main",
        "org.apache.spark.deploy.SparkSubmit",
    ]
    run(f"-XX:DumpLoadedClassList={listed}", *options)
    assert "org/apache/spark/launcher/Main" in listed.read_text()
    return listed


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([JAVA.program, *arguments], capture_output=True, timeout=120, check=False)


def path_of(jars: list[Path]) -> str:
    return os.pathsep.join(map(str, jars))


def test_each_jar_is_named_once_and_slf4j_comes_first() -> None:
    jars = class_path()
    assert len(jars) == len(set(jars)) == len(list(jars[0].parent.glob("*.jar")))
    assert jars[0].name.startswith("slf4j-api-")
    sizes = [jar.stat().st_size for jar in jars[1:]]
    assert sizes == sorted(sizes, reverse=True)


def test_an_archive_is_made_from_the_list_and_accepted_by_the_jvm(tmp_path: Path, classes: Path) -> None:
    archive = archive_for(JAVA, class_path(), tmp_path / "classes")
    assert archive.options(classes) == [f"-XX:DumpLoadedClassList={classes}"]
    maker = archive.make(classes)
    assert maker is not None
    assert maker.wait(120) == 0
    assert [path.name for path in (tmp_path / "classes").iterdir()] == [archive.path.name]
    assert archive.options(classes) == ["-Xshare:auto", f"-XX:SharedArchiveFile={archive.path}"]
    assert archive.make(classes) is None
    # With `on` instead of `auto`, a JVM that cannot use the archive ends with an error.
    strict = ["-Xshare:on", *archive.options(classes)[1:]]
    assert run(*strict, "-cp", path_of(class_path()), "-version").returncode == 0
    assert run(*strict, "-cp", path_of([*class_path()[1:], class_path()[0]]), "-version").returncode == 1


def test_a_damaged_archive_is_ignored(tmp_path: Path, classes: Path) -> None:
    archive = archive_for(JAVA, class_path(), tmp_path)
    archive.path.write_bytes(b"not an archive" * 1000)
    assert run(*archive.options(classes), "-cp", path_of(class_path()), "-version").returncode == 0


def test_only_one_process_makes_an_archive_unless_it_gave_up(tmp_path: Path) -> None:
    archive, listed = slow(tmp_path)
    first = archive.make(listed)
    assert first is not None
    assert archive.make(listed) is None
    taken = archive.path.with_suffix(".classes")
    assert taken.read_text() == "a/B\nc/D\n"
    longer_ago = time.time() - ABANDONED_AFTER_S - 1
    os.utime(taken, (longer_ago, longer_ago))
    second = archive.make(listed)
    assert second is not None
    for maker in (first, second):
        maker.wait(60)


def test_an_archive_that_fails_leaves_nothing(tmp_path: Path) -> None:
    archive, listed = slow(tmp_path, ends="exit 1")
    maker = archive.make(listed)
    assert maker is not None
    maker.wait(60)
    assert list((tmp_path / "classes").iterdir()) == []


def test_the_last_used_archives_are_retained(tmp_path: Path) -> None:
    archive, listed = slow(tmp_path)
    for age, name in enumerate(["newest", "older", "oldest"]):
        made = tmp_path / "classes" / f"{name}.jsa"
        made.touch()
        os.utime(made, (1_000_000 - age, 1_000_000 - age))
    maker = archive.make(listed)
    assert maker is not None
    maker.wait(60)
    assert {path.name for path in (tmp_path / "classes").iterdir()} == {"newest.jsa", archive.path.name}


def test_another_java_or_another_jar_has_another_archive(tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.write_bytes(b"1")
    first = archive_for(Java(tmp_path, "21"), [jar], tmp_path).path
    assert archive_for(Java(tmp_path, "21"), [jar], tmp_path).path == first
    assert archive_for(Java(tmp_path, "25"), [jar], tmp_path).path != first
    jar.write_bytes(b"12")
    assert archive_for(Java(tmp_path, "21"), [jar], tmp_path).path != first


def slow(folder: Path, *, ends: str = "true") -> tuple[Archive, Path]:
    """An archive whose Java takes a moment and makes an empty one, and a list with half a line at its end."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\nsleep 0.3\nfor a; do case $a in -XX:SharedArchiveFile=*) : > ${a#*=};; esac; done\n"
        + ends
    )
    program.chmod(0o755)
    listed = folder / "listed"
    listed.write_text("a/B\nc/D\ne/")
    return archive_for(Java(folder, "21"), [], folder / "classes"), listed
