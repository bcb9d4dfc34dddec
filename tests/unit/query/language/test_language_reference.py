from pathlib import Path

from headwater.query.expressions import FUNCTIONS
from headwater.query.language.parse import is_plain_name, parse
from tests.laws.language_trees import KEYWORDS

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "language.md").read_text(encoding="utf-8")


def test_the_reference_lists_every_function_and_no_other():
    table = PAGE.split("| Function | Gives |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    assert table == [f"| `{function.usage}` | {function.meaning} |" for function in FUNCTIONS.values()]


def test_the_reference_lists_every_word_that_needs_quotes():
    listed = PAGE.split("must be in double quotes: ")[1].split(".")[0]
    words = [word.strip("` \n") for word in listed.split(",")]
    assert words == sorted(words)
    assert all(not is_plain_name(word.lower()) for word in words)
    reserved = {word.upper() for word in KEYWORDS if not is_plain_name(word)}
    assert reserved - {"PAIRS"} <= set(words)  # a keyword in one place, and printed in quotes to be safe
    for word in words:
        assert parse(f"CREATE QUERY {word} AS SELECT * FROM s;")[1] != []
        assert parse(f'CREATE QUERY "{word}" AS SELECT * FROM s;')[1] == []
