"""Which readings of different sensors belong together? (`CORRELATE`)

`subscription` is a standing query, `kernel` is the step; `match` finds the clauses of a reading, `engine` and `search` the complex
events, `routing` the zones that need a row. `members` finds the readings of operators for the nodes of a network.

Nothing is exported here: the language needs the words of every kernel, and a kernel only when it runs.
"""
