"""`headwater check FILE`: every error there is, with its place, the reason and advice."""

from __future__ import annotations

import argparse

from headwater.apps.cli.arguments import add_file, read_queries
from headwater.apps.cli.history_option import add_most_history, most_history


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add_file(parser)
    add_most_history(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check a file; errors are raised."""
    from headwater.query.checking.check import check
    from headwater.query.language.parse import parse
    from headwater.query.language.words import counted
    from headwater.query.planning.chosen_queries import unread_views

    text = read_queries(arguments.file)
    script, syntax = parse(text)
    catalogue = check(script, text, arguments.file, syntax=syntax, most_history_us=most_history(arguments))
    streams = len(catalogue.streams)
    views = sum(query.tree.view for query in catalogue.queries.values())
    queries = sum(not query.tree.hidden for query in catalogue.queries.values()) - views
    parts = [
        counted(streams, "stream"),
        counted(queries, "query"),
        *([counted(views, "view")] if views else []),
    ]
    print(f"{arguments.file}: {', '.join(parts)}, no errors")
    for name in unread_views(catalogue):
        print(f"hint: no query reads the view '{name}', so it is not computed")
    return 0
