from headwater.model import DataError, HeadwaterError, LimitReached, QueriesRefused, QueryError, Span

TEXT = "CREATE QUERY alerts AS SELECT *\n  FROM temprature CORRELATE (\n"


def unknown_stream() -> QueryError:
    return QueryError(
        "unknown-stream",
        "there is no stream named 'temprature'",
        span=Span(2, 8, 10),
        advice=["known streams: humidity, temperature", "did you mean 'temperature'?"],
    )


def test_a_query_error_shows_its_line_with_a_mark_under_the_words():
    assert unknown_stream().show(TEXT, "alerts.hw") == (
        "error[unknown-stream]: there is no stream named 'temprature'\n"
        "  alerts.hw:2:8\n"
        "    2 |   FROM temprature CORRELATE (\n"
        "      |        ^^^^^^^^^^\n"
        "  known streams: humidity, temperature\n"
        "  did you mean 'temperature'?"
    )


def test_a_span_that_runs_over_the_line_is_marked_to_its_end():
    error = QueryError("syntax", "unexpected end", span=Span(1, 31, 50))
    assert error.show("x" * 31).splitlines()[-1] == "      | " + " " * 30 + "^"
    assert QueryError("syntax", "end", span=Span(9, 1)).show("one line").splitlines()[2] == "    9 | "


def test_a_long_line_is_quoted_around_the_place():
    error = QueryError("syntax", "no", span=Span(1, 501, 3))
    line = "a" * 500 + "bad" + "c" * 500
    assert error.show(line).splitlines()[2:] == [
        f"    1 | …{'a' * 100}bad{'c' * 97}…",
        f"      |  {' ' * 100}^^^",
    ]
    assert QueryError("syntax", "no", span=Span(1, 1, 1003)).show(line).splitlines()[2:] == [
        f"    1 | {'a' * 200}…",
        f"      | {'^' * 200}",
    ]
    assert QueryError("syntax", "no", span=Span(1, 1004)).show(line).splitlines()[2:] == [
        f"    1 | …{'c' * 200}",
        f"      |  {' ' * 200}^",
    ]


def test_signs_that_a_terminal_would_obey_are_not_quoted():
    shown = QueryError("syntax", "no", span=Span(1, 2)).show("a\0\x1b[2Jb")
    assert shown.splitlines()[2:] == ["    1 | a\ufffd\ufffd[2Jb", "      |  ^"]


def test_a_message_is_not_longer_than_anybody_reads():
    error = QueryError("unknown-stream", f"there is no stream named '{'r' * 100_000}'", span=None)
    (line,) = str(error).splitlines()
    assert len(line) == 999
    assert line.startswith("error[unknown-stream]: there is no stream named 'rrr")
    assert line.endswith("rrr'")


def test_of_many_errors_fifty_are_shown_and_the_others_counted():
    shown = str(QueriesRefused([unknown_stream()] * 53, TEXT, "alerts.hw"))
    assert shown.count("error[unknown-stream]") == 50
    assert shown.endswith("\n\nand 3 more errors in alerts.hw")
    assert str(QueriesRefused([unknown_stream()] * 51, TEXT, unfinished=True)).endswith(
        "\n\nand at least 1 more error in query"
    )
    assert "more" not in str(QueriesRefused([unknown_stream()] * 50, TEXT))


def test_errors_say_where_as_far_as_they_know():
    assert unknown_stream().where() == "line 2, column 8"
    assert str(QueryError("syntax", "nothing here", span=None)) == "error[syntax]: nothing here"
    assert str(DataError("missing-file", "there is no such file", stream="weather", place="a.csv")) == (
        "error[missing-file]: there is no such file\n  stream 'weather', a.csv"
    )


def test_refused_queries_show_every_error():
    refused = QueriesRefused([unknown_stream(), unknown_stream()], TEXT, "alerts.hw")
    assert refused.message == "2 errors in alerts.hw"
    assert str(refused).count("error[unknown-stream]") == 2
    assert QueriesRefused([unknown_stream()], TEXT).message == "1 error in query"


def test_a_limit_says_which_and_how_much():
    reached = LimitReached("clauses", 6, "a query has at most 6 clauses")
    assert (reached.code, reached.bound, reached.value) == ("limit-reached", "clauses", 6)
    assert isinstance(reached, HeadwaterError)
