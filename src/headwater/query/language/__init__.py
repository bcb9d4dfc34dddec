"""What can be said: the grammar, the tree of a text, the parser and the printer, and the words of messages and plans.

Nothing here knows streams or types. What an operator adds to the language stands in its folder, `query/operators/<name>/`.
"""
