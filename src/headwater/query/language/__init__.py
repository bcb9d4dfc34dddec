"""The text of queries: the grammar, the tree of a text, the parser and the printer, and the words of messages and plans.

Nothing here knows streams or types. The parts of the language that belong to an operator are in its folder, `query/operators/<name>/`.
"""
