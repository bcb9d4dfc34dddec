"""SUPPRESS built in Python: the same tree that a text gives.

    updates = suppress("updates", "cars", "x", "y", tolerance="25 METERS", heartbeat="30 SECONDS")

What is true of the builders in `headwater.query.build` is true here: pieces that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from headwater.query.language.build_pieces import (
    Duration,
    Number,
    Source,
    duration,
    plain_number,
    query_of,
    read,
    refused,
    text_of,
)
from headwater.query.language.parse import parse_quantity
from headwater.query.language.tree import CreateQuery, Quantity
from headwater.query.operators.suppress.parse import parse_predictor
from headwater.query.operators.suppress.tree import Dimension, Suppress


def suppress(
    name: str,
    source: Source,
    *dimensions: str,
    tolerance: str | Number | Quantity,
    heartbeat: Duration,
    using: str | None = None,
    forget: Duration | None = None,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] SUPPRESS (dimensions TOLERANCE … HEARTBEAT …)`.

    The source is the name of a stream or query, or the stream or query itself. A `tolerance` is a number in the unit of the
    dimensions, or a length such as "25 METERS"; `using` is a predictor, such as "CONSTANT" or "LEAST SQUARES 5"; `forget` says
    after how long without a sample a sensor is forgotten.

    ```python
    lines = hw.suppress("lines", cars, "x", "y", tolerance="10 METERS", heartbeat="30 SECONDS", columns="id, x, x_slope",
                        where="id = 'red'")
    print(hw.run([cars, lines], {"cars": positions})["lines"])
    ```

    ```output
    answers["lines"]: 3 rows
    event_time            id       x  x_slope
    ────────────────────  ───  ─────  ───────
    2026-01-31T06:00:00Z  red    0.0      0.0
    2026-01-31T06:00:10Z  red  100.0     10.0
    2026-01-31T06:00:40Z  red  400.0     10.0
    ```
    """
    operator = suppressing(*dimensions, tolerance=tolerance, heartbeat=heartbeat, using=using, forget=forget)
    return query_of(name, source, columns, where, operator)


def suppressing(
    *dimensions: str,
    tolerance: str | Number | Quantity,
    heartbeat: Duration,
    using: str | None = None,
    forget: Duration | None = None,
) -> Suppress:
    """`SUPPRESS (…)` as a step before PREDICT, for the `suppress` of `predict`.

    ```python
    lines = hw.suppressing("x", "y", tolerance="10 METERS", heartbeat="30 SECONDS")
    near = hw.predict("near", cars, "DISTANCE(a, b) <= 100 METERS", pairs=("a", "b"), within="0 SECONDS", suppress=lines,
                      columns="a_key, b_key, begins")
    print(hw.run([cars, near], {"cars": positions})["near"])
    ```

    ```output
    answers["near"]: 2 rows
    event_time            a_key  b_key  begins
    ────────────────────  ─────  ─────  ───────────────────────────
    2026-01-31T06:00:40Z  blue   red    2026-01-31T06:00:26.666667Z
    2026-01-31T06:00:40Z  blue   red    2026-01-31T06:00:40Z
    ```
    """
    if not dimensions:
        raise refused("suppress needs a dimension", "list the columns to predict, as in 'x', 'y'")
    names = [text_of(name, "a dimension", "suppress('lines', 'cars', 'x', 'y', …)") for name in dimensions]
    said = None if using is None else text_of(using, "using", "using='LEAST SQUARES 5'")
    predictor, parameters = (None, ()) if said is None else read(parse_predictor, f"USING {said}", "using")
    return Suppress(
        tuple(map(Dimension, names)),
        _tolerance(tolerance),
        duration(heartbeat),
        predictor,
        parameters,
        None if forget is None else duration(forget),
    )


def _tolerance(written: str | Number | Quantity) -> Number | Quantity:
    if isinstance(written, Quantity):
        return written
    if isinstance(written, str):
        return read(parse_quantity, written, "tolerance")
    return plain_number(
        written, "give a number in the unit of the dimensions, or a length such as '25 METERS'"
    )
