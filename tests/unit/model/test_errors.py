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
