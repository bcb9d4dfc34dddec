"""The operators of the language: a folder each, one contract through which shared code uses them, and the union of all.

Nothing is exported here: the tree of the language needs the nodes of each operator long before their meaning.
"""
