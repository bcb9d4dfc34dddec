"""A plan in words, for people: what travels, what is filtered where, what is remembered and how much that is, what is shared."""
