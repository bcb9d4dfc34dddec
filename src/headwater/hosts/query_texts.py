"""Files of queries and of tests of queries as text: UTF-8, with or without a byte order mark."""

from __future__ import annotations

from pathlib import Path

from headwater.model import DataError


def read_query_text(path: Path, shown: str) -> str:
    """The text of a file; `shown` is its name in messages."""
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise DataError("missing-queries", f"cannot read '{shown}': {fault.strerror or fault}") from fault
    return decoded_query_text(data, shown)


def decoded_query_text(data: bytes, shown: str) -> str:
    """The text of bytes."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        raise DataError(
            "queries-not-text",
            f"'{shown}' is not UTF-8 text: byte 0x{data[fault.start]:02x} in line {line}",
            advice=["save it as UTF-8"],
        ) from fault
