"""The plan of patterns in words, and their automata drawn."""

from __future__ import annotations

import re

import pytest

from headwater.query.explaining.explain import dot, explain
from headwater.query.planning.plan import compile_text

STREAM = "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, humidity DOUBLE, note STRING);\n"


def query(body: str, name: str = "q", source: str = "weather", where: str = "") -> str:
    return f"CREATE QUERY {name} AS SELECT * FROM {source} {where} MATCH_RECOGNIZE ({body});\n"


def sections(text: str, zones: int = 2) -> dict[str, list[str]]:
    output = explain(compile_text(STREAM + text, zones=zones)).rstrip("\n").split("\n\n")
    return {section.split("\n", 1)[0]: section.split("\n")[1:] for section in output}


def entry(text: str, name: str, title: str = "query q", zones: int = 2) -> list[str]:
    """The lines of one entry of a section."""
    lines = sections(text, zones)[title]
    width = re.match(r"  \w[\w ]*?  +", lines[0])
    assert width is not None
    found: list[str] = []
    inside = False
    for line in lines:
        head, rest = line[: width.end()].strip(), line[width.end() :]
        inside = head == name or (inside and not head)
        found += [rest] if inside else []
    return found


FIRE = query(
    """PARTITION BY station ORDER BY at MEASURES MAX(B.temperature) AS peak
    PATTERN (A B+ C) WITHIN 6 SECONDS
    DEFINE A AS A.temperature > 40, B AS B.temperature > PREV(B.temperature) AND B.humidity < A.humidity, C AS C.humidity < 20""",
    where="WHERE humidity > 0",
)


class TestQueries:
    def test_a_row_pattern_with_everything(self) -> None:
        assert sections(FIRE)["query q"] == [
            "  reads       weather",
            "  where       humidity > 0",
            "  partition   station",
            "  order       at",
            "  pattern     A B+ C",
            "  conditions  A  A.temperature > 40",
            "              B  B.temperature > PREV(B.temperature) AND B.humidity < A.humidity",
            "              C  C.humidity < 20",
            "  decided     A, C in columns, once for all queries with the same condition",
            "              B in the scan, row by row, because other rows of the match are used",
            "  matches     at most one at each row, the preferred one",
            "              after a match the search continues after its last row",
            "  time        from the first row to the last at most 6 seconds",
            "  bounded by  WITHIN: an attempt is open for at most 6 seconds after its first row",
            "  answers     one row for each match",
            "  columns     station, peak",
            "  zones       all 2 (from 0), by station: each whole partition lives in one of them",
            "  kernel      pattern:weather",
            "  state       for each partition at most the rows of the last 6 seconds: 28 bytes a row, once for all queries with the same partitions",
            "              and 1 row before them, for PREV",
            "              32 bytes for each partial match, 40 bytes for each row it binds",
            "              for every partition 72 bytes and its key for PREV",
            "  automaton      begin         -> 1 A",
            "              1  A  first row  -> 2 B",
            "              2  B  next row   -> 3 B, 4 C",
            "              3  B  next row   -> 3 B, 4 C",
            "              4  C  next row   -> ACCEPT",
        ]

    def test_an_event_pattern_with_links_negations_and_absence(self) -> None:
        text = query(
            """MATCH EVERY PATTERN (A ~> NOT B ~> C~~+! UNTIL (humidity > 90) ~> D NOT E) WITHIN 6 SECONDS
            DEFINE A AS temperature > 40, B AS temperature > 50, C AS humidity < 20, E AS temperature > 3"""
        )
        assert entry(text, "conditions") == [
            "A      temperature > 40",
            "B      temperature > 50",
            "C      humidity < 20",
            "D      every row",
            "E      temperature > 3",
            "UNTIL  humidity > 90",
        ]
        assert entry(text, "matches") == [
            "MATCH EVERY: every way to bind rows to the elements",
            "a match ends no other attempt",
        ]
        assert entry(text, "automaton") == [
            "   begin                          -> 1 A",
            "1  A          first row           -> 2 C",
            "2  C          next such row       -> 3 C, 4 D",
            "                no B among the skipped rows",
            "                it is not a row with humidity > 90 (UNTIL)",
            "3  C          any later such row  -> 3 C, 4 D",
            "                no row with humidity > 90 (UNTIL) up to and including it",
            "4  D          next such row       -> 6 (absence)",
            "                no C up to and including it",
            "                from a row with humidity > 90 (UNTIL) on it is 5",
            "5  D          next such row       -> 6 (absence)",
            "6  (absence)  its time runs out   -> ACCEPT",
            "                no E as the very next row",
        ]

    def test_edges_and_exclusions(self) -> None:
        assert entry(query("PATTERN (^ A {- B -}? $)"), "automaton") == [
            "   begin                            -> 1 A (at the partition's first row)",
            "1  A                first row       -> 2 B, 3 (end)",
            "2  B (not emitted)  next row        -> 3 (end)",
            "3  (end)            no row follows  -> ACCEPT",
        ]

    def test_a_node_mode(self) -> None:
        text = query(
            "MODE RECENT HOLD 8 EVENTS PATTERN (A B+ D) WITHIN 6 SECONDS DEFINE A AS temperature > 1"
        )
        assert entry(text, "matches") == [
            "MODE RECENT: one sequence at a time, with the latest row for each element, as a sensor node does it"
        ]
        assert entry(text, "bounded by") == [
            "HOLD: 8 events a partition; events without room are given up and counted"
        ]
        assert entry(text, "state") == [
            "a window of 8 events for each partition",
            "nothing for a partition without an open attempt",
        ]
        assert entry(text, "automaton") == [
            "   begin                               -> 1 A",
            "1  A  first such row, then the latest  -> 2 B",
            "2  B  next such row, then the latest   -> 3 D",
            "3  D  next such row                    -> ACCEPT",
        ]

    @pytest.mark.parametrize(
        ("body", "output"),
        [
            ("PATTERN (A+)", ["no bound: allowed only over bounded input, see unbounded-pattern"]),
            ("PATTERN (A ~> B)", ["no bound: allowed only over bounded input, see unbounded-pattern"]),
            ("PATTERN (A B{1,3} | C)", ["its length: a match has at most 4 rows"]),
            (
                "PATTERN (A ~> B) WITHIN 5 SECONDS BETWEEN ROWS",
                ["WITHIN … BETWEEN ROWS: a partial match waits for at most 5 seconds"],
            ),
            (
                "PATTERN (A+) LIMIT 9 PARTIAL MATCHES",
                ["LIMIT: an attempt over more than 9 rows is given up and counted"],
            ),
            (
                "MATCH EVERY PATTERN (A+) LIMIT 9 PARTIAL MATCHES",
                ["LIMIT: for each partition 9 at a time; above that the oldest are given up and counted"],
            ),
        ],
    )
    def test_what_bounds_it(self, body: str, output: list[str]) -> None:
        assert entry(query(body), "bounded by") == output

    @pytest.mark.parametrize(
        ("skip", "output"),
        [
            ("SKIP TO NEXT ROW", "after a match the search continues at the row after its first"),
            ("SKIP TO LAST B", "after a match the search continues at its last row of B"),
        ],
    )
    def test_where_the_search_goes_on(self, skip: str, output: str) -> None:
        assert entry(query(f"AFTER MATCH {skip} PATTERN (A B)"), "matches")[1] == output
        every = entry(query(f"MATCH EVERY AFTER MATCH {skip} PATTERN (A B)"), "matches")[1]
        assert every.startswith("a match ends the other attempts that began ")


class TestZones:
    def test_without_partitions_there_is_one_zone(self) -> None:
        (output,) = entry(query("PATTERN (A B)"), "zone")
        assert re.fullmatch(r"\d of 2 \(from 0\), by its name: without PARTITION BY all rows .*", output)

    def test_answers_that_an_operator_reads_meet_in_one_zone(self) -> None:
        text = query("PARTITION BY station PATTERN (A B)") + query("PATTERN (A B)", "r", "q")
        (first,), (second,) = entry(text, "zone"), entry(text, "zone", "query r")
        assert "other operators read its answers, so all its partitions go to this one zone" in first
        assert second.endswith("in the zone of 'q', so its answers need not travel")
        assert first[0] == second[0]

    def test_plain_selects_are_spread_with_what_they_read(self) -> None:
        text = query("PARTITION BY station PATTERN (A B)") + "CREATE QUERY r AS SELECT * FROM q;"
        assert entry(text, "zones", "query r") == [
            "all 2 (from 0), in the zone of 'q', so its answers need not travel"
        ]
        assert sections(text)["shared"][:2] == [
            "  zones    2 queries in all zones, each partition in one",
            "  kernels  4 for 2 queries: one for each zone, kind and source",
        ]


class TestShared:
    def test_equal_conditions_are_counted(self) -> None:
        text = "".join(
            query(
                f"PARTITION BY station PATTERN (A B+) WITHIN 6 SECONDS DEFINE A AS temperature > {n % 5}, B AS temperature > A.temperature",
                f"q{n}",
            )
            for n in range(40)
        )
        output = sections(text)
        assert (
            "  conditions  80 of patterns, 6 of them different: equal conditions in columns are evaluated once"
            in output["shared"]
        )
        assert (
            "  zones  35 queries in all zones, each partition in one"
            in output["35 more queries of kernel pattern:weather"]
        )


class TestDot:
    def test_an_automaton(self) -> None:
        text = query("PATTERN (A B*?) DEFINE A AS temperature > 40, B AS note = 'so\\so \"x\"'", '"my ""q"""')
        assert dot(compile_text(STREAM + text)).split("\n") == [
            'digraph "my \\"q\\"" {',
            "  rankdir=LR;",
            '  label="my \\"q\\"\\nPATTERN (A B*?)";',
            '  node [shape=box, style=rounded, fontname="sans-serif"];',
            '  edge [fontname="sans-serif"];',
            "  begin [shape=point];",
            '  accept [shape=doublecircle, label="ACCEPT"];',
            '  s1 [label="1 A\\ntemperature > 40"];',
            '  s2 [label="2 B\\nnote = \'so\\\\so \\"x\\"\'"];',
            "  begin -> s1;",
            '  s1 -> accept [label="1."];',
            '  s1 -> s2 [label="2. next row"];',
            '  s2 -> accept [label="1."];',
            '  s2 -> s2 [label="2. next row"];',
            "}",
            "",
        ]

    def test_every_pattern_is_a_graph_of_its_own(self) -> None:
        text = (
            query("PATTERN (A)", "one")
            + query("PATTERN (A ~> B)", "two")
            + "CREATE QUERY r AS SELECT * FROM one;"
        )
        output = dot(compile_text(STREAM + text))
        assert re.findall(r'^digraph "(\w+)"', output, re.MULTILINE) == ["one", "two"]
        assert 's1 -> s2 [label="next such row"];' in output
