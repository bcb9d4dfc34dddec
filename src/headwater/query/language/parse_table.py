"""How does a start get its parser without working through the grammar again?

Rule 1  The package has the parse table of its grammar, as JSON: `parse_table.json`. It names the grammar and the release of Lark that it
        was made from. `make grammar` makes it again, and a test fails until that is done.
Rule 2  Where the table is of another grammar or another Lark, is damaged or is not there, the parser is made from the grammar, without a word.
Rule 3  The same grammar gives the same bytes: states are numbered in the order in which they are reached, along symbols in alphabetical order.

The first line says what the table was made from, with a checksum of the rest. The rest has the kind of each keyword, the rules, and what
follows each symbol in each state: the next state; or a rule that ends, for a set of symbols that many states share.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from lark import Lark, Token, Tree
from lark import __version__ as lark_version
from lark.grammar import NonTerminal, Rule, RuleOptions, Symbol, Terminal
from lark.lexer import Lexer, LexerThread
from lark.parse_tree_builder import ParseTreeBuilder
from lark.parsers.lalr_analysis import IntParseTable, Reduce, Shift
from lark.parsers.lalr_parser import _Parser

TABLE_FILE: Final = Path(__file__).with_name("parse_table.json")

Actions = dict[str, tuple[Any, Any]]
"""What a state does with each symbol: (Shift, the next state) or (Reduce, a rule)."""


@dataclass(frozen=True, slots=True)
class ParseTable:
    """A grammar that has been worked through: the kind of each keyword and sign, the rules, and the states by number."""

    kinds: dict[str, str]
    rules: list[Rule]
    states: dict[int, Actions]
    starts: dict[str, int]
    ends: dict[str, int]


class TableParser:
    """Lark's parser over a table, which hands what it reads to the methods of a transformer."""

    def __init__(self, table: ParseTable, transformer: object) -> None:
        builder = ParseTreeBuilder(table.rules, Tree, maybe_placeholders=True)  # type: ignore[no-untyped-call]
        callbacks = builder.create_callback(transformer)  # type: ignore[no-untyped-call]
        states = IntParseTable(table.states, table.starts, table.ends)  # type: ignore[no-untyped-call]
        self._parser = _Parser(states, callbacks)

    def parse(self, tokens: Sequence[Token], start: str) -> Any:
        """What the tokens say; raises what the transformer raises, and UnexpectedToken."""
        return self._parser.parse(LexerThread.from_custom_input(_TokensAsTheyAre(), tokens), start)


class _TokensAsTheyAre(Lexer):
    """The lexer of the parser: the tokens are cut already."""

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        yield from lexer_state.text


def table_of_grammar(grammar: str, starts: Sequence[str]) -> ParseTable:
    """The table, made from the grammar: most of a second."""
    made = Lark(grammar, parser="lalr", lexer="basic", start=list(starts), maybe_placeholders=True)
    kinds = {str(t.pattern.value): t.name for t in made.terminals if t.pattern is not None}
    table = made.parser.parser._parse_table
    return ParseTable(kinds, made.rules, table.states, table.start_states, table.end_states)


def stored_table(grammar: str, starts: Sequence[str], file: Path = TABLE_FILE) -> ParseTable | None:
    """The table that the package has, if it was made from this grammar."""
    try:
        origin, _, body = file.read_text(encoding="utf-8").partition("\n")
        if json.loads(origin) == _origin(grammar, starts, body):
            return _unpacked(json.loads(body))
    except (OSError, ValueError):
        pass
    return None


def stored_text(grammar: str, starts: Sequence[str]) -> str:
    """What the file of the table must contain."""
    body = _packed(table_of_grammar(grammar, starts))
    return f"{json.dumps(_origin(grammar, starts, body))}\n{body}"


def _origin(grammar: str, starts: Sequence[str], body: str) -> Mapping[str, str]:
    """What a table is made from. Releases of Lark that differ in the third number alone work grammars through alike."""
    text = "\n".join([grammar, *starts])
    return {"lark": ".".join(lark_version.split(".")[:2]), "grammar": _digest(text), "table": _digest(body)}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# --- as text --------------------------------------------------------------------------------------------------------


def _packed(table: ParseTable) -> str:
    """A table as JSON, a rule or a state on each line."""
    symbols = sorted(set().union(*table.states.values()))
    symbol_of = {symbol: number for number, symbol in enumerate(symbols)}
    rule_of = {rule: number for number, rule in enumerate(table.rules)}
    order = _in_order(table)
    number_of = {state: number for number, state in enumerate(order)}
    sets: dict[tuple[int, ...], int] = {}
    states = []
    for state in order:
        follows: list[int] = []
        ends: dict[int, list[int]] = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action is Shift:
                follows += symbol_of[symbol], number_of[target]
            else:
                ends.setdefault(rule_of[target], []).append(symbol_of[symbol])
        closed = [[rule, sets.setdefault(tuple(ahead), len(sets))] for rule, ahead in sorted(ends.items())]
        states.append([follows, closed])
    parts: dict[str, Any] = {
        "kinds": [dict(sorted(table.kinds.items()))],
        "symbols": [symbols],
        "starts": [{start: number_of[state] for start, state in sorted(table.starts.items())}],
        "ends": [{start: number_of[state] for start, state in sorted(table.ends.items())}],
        "rules": [_packed_rule(rule) for rule in table.rules],
        "sets": [list(ahead) for ahead in sets],
        "states": states,
    }
    listed = (f'"{name}": [\n{_lines(lines)}\n]' for name, lines in parts.items())
    return "{" + ",\n".join(listed) + "}\n"


def _lines(values: Iterable[Any]) -> str:
    return ",\n".join(json.dumps(value, separators=(",", ":")) for value in values)


def _in_order(table: ParseTable) -> list[int]:
    """The states in the order in which they are reached."""
    order = list(dict.fromkeys(state for _, state in sorted(table.starts.items())))
    reached = set(order)
    for state in order:  # which grows
        for _, (action, target) in sorted(table.states[state].items()):
            if action is Shift and target not in reached:
                reached.add(target)
                order.append(target)
    return order


def _packed_rule(rule: Rule) -> list[Any]:
    options = rule.options
    assert options.priority is None
    expansion = [[part.name, isinstance(part, Terminal) and part.filter_out] for part in rule.expansion]
    return [
        str(rule.origin.name),
        [f"-{name}" if left_out else str(name) for name, left_out in expansion],
        rule.order,
        rule.alias,
        [options.keep_all_tokens, options.expand1, options.template_source, list(options.empty_indices)],
    ]


def _unpacked(packed: Mapping[str, Any]) -> ParseTable:
    """The table of a text; the checksum says that it is whole."""
    symbols = packed["symbols"][0]
    rules = [_unpacked_rule(*rule) for rule in packed["rules"]]
    ends = [(Reduce, rule) for rule in rules]
    sets = [[symbols[number] for number in ahead] for ahead in packed["sets"]]
    states: dict[int, Actions] = {}
    for state, (follows, closed) in enumerate(packed["states"]):
        actions: Actions = {
            symbols[symbol]: (Shift, target)
            for symbol, target in zip(follows[::2], follows[1::2], strict=True)
        }
        for rule, ahead in closed:
            actions.update(dict.fromkeys(sets[ahead], ends[rule]))
        states[state] = actions
    return ParseTable(packed["kinds"][0], rules, states, packed["starts"][0], packed["ends"][0])


def _unpacked_rule(
    origin: str, expansion: Sequence[str], order: int, alias: str | None, options: Sequence[Any]
) -> Rule:
    keep_all, expand, template, empty = options
    read = RuleOptions(keep_all, expand, None, template, tuple(empty))
    return Rule(NonTerminal(origin), [_symbol(name) for name in expansion], order, alias, read)


def _symbol(name: str) -> Symbol:
    """Names of terminals have no small letters; a minus sign before one says that the tree leaves it out."""
    plain = name.removeprefix("-")
    return Terminal(plain, plain != name) if plain.isupper() else NonTerminal(plain)
