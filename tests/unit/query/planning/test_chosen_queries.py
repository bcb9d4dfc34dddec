"""Which queries of a text are computed, and which of them emit."""

from headwater import check, select, view
from headwater.query import show
from headwater.query.planning.plan import compile_text, make_plan

TEXT = """
CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, a DOUBLE);
CREATE STREAM other (id STRING KEY, at TIMESTAMP TIME, a DOUBLE);
CREATE VIEW low AS SELECT id, a FROM s WHERE a < 10;
CREATE QUERY lower AS SELECT id, a FROM low WHERE a < 5;
CREATE QUERY lowest AS SELECT id FROM lower WHERE a < 1;
CREATE VIEW unread AS SELECT id FROM other;
CREATE VIEW unread_too AS SELECT id FROM unread;
CREATE VIEW chain AS SELECT * FROM s SUPPRESS (a TOLERANCE 1 HEARTBEAT 1 MINUTE) PREDICT (a > 8);
"""


def _computed(chosen: list[str] | None = None) -> dict[str, bool]:
    """Which queries a plan has, and whether they emit."""
    plan = make_plan(check(TEXT), TEXT, chosen=chosen)
    return {query.name: not query.hidden for query in plan.queries}


def test_views_are_computed_for_queries_that_read_them() -> None:
    assert _computed() == {"low": False, "lower": True, "lowest": True}
    assert compile_text(TEXT).unread == ("unread", "unread_too", "chain")


def test_of_chosen_queries_only_what_they_read_is_computed_beside_them() -> None:
    assert _computed(["lowest"]) == {"low": False, "lower": False, "lowest": True}
    assert _computed(["low"]) == {"low": True}
    assert _computed(["lower", "lowest"]) == {"low": False, "lower": True, "lowest": True}
    assert _computed(["chain"]) == {"chain/SUPPRESS": False, "chain": True}


def test_a_view_has_the_fingerprint_of_the_query() -> None:
    as_query = compile_text(TEXT.replace("CREATE VIEW low", "CREATE QUERY low"))
    as_view = compile_text(TEXT)
    for name in ("low", "lower", "lowest"):
        assert as_view.query(name).fingerprint == as_query.query(name).fingerprint


def test_the_builder_of_a_view_prints_as_one() -> None:
    low = select("low", "s", "id, a", where="a < 10")
    assert show(view(low)) == "CREATE VIEW low AS\nSELECT id, a\nFROM s\nWHERE a < 10;"
    assert show(low).startswith("CREATE QUERY low AS")
