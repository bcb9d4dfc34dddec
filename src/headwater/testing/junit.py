"""Results as JUnit XML, which CI systems show."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.model import DataError
from headwater.testing.outcomes import Outcome

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, results: Sequence[tuple[Outcome, float]], refused: Mapping[str, str]) -> None:
    """One suite for each file; `results` are outcomes and the seconds they took, `refused` files that are not test files, and why."""
    root = ET.Element("testsuites")
    suites: dict[str, ET.Element] = {}
    for outcome, seconds in results:
        shown = outcome.file.shown
        suite = suites.setdefault(shown, ET.Element("testsuite", name=shown))
        name = _clean(outcome.case.name)
        case = ET.SubElement(suite, "testcase", name=name, classname=shown, time=f"{seconds:.3f}")
        case.set("file", shown)
        case.set("line", str(outcome.case.line))
        if not outcome.passed:
            titles = "; ".join(failure.title for failure in outcome.failures)
            failure = ET.SubElement(case, "failure", message=_clean(titles))
            failure.text = _clean("\n".join(outcome.lines()))
    for shown, why in refused.items():
        suite = suites.setdefault(shown, ET.Element("testsuite", name=shown))
        case = ET.SubElement(suite, "testcase", name="the file", classname=shown, time="0.000")
        ET.SubElement(case, "error", message="not a test file").text = _clean(why)
    for suite in suites.values():
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", str(len(suite.findall("testcase/error"))))
        root.append(suite)
    ET.indent(root)
    try:
        ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as fault:
        raise DataError("cannot-write", f"cannot write '{path}': {fault.strerror or fault}") from fault


def _clean(text: str) -> str:
    """Without characters that XML cannot have."""
    return _NOT_XML.sub("�", text)
