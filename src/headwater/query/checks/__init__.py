"""The checks behind `headwater.query.check`, one file a part of the language.

Each takes a piece of the tree, tells `Complaints` everything that is wrong with it, and gives what it means as far as it
can be said, so that one mistake does not hide the next and does not make others appear.
"""

__all__: list[str] = []
