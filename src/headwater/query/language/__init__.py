"""What can be said: the grammar, the tree of a text, the parser and the printer, and the words of messages and plans.

Nothing here knows streams or types. What an operator adds to the language stands in its folder, `query/operators/<name>/`.
"""

from headwater.query.language.tree import Script  # first: the nodes of operators need those of expressions

from headwater.query.language.parse import parse  # isort: skip
from headwater.query.language.printer import show  # isort: skip

__all__ = ["Script", "parse", "show"]
