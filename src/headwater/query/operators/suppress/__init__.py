"""SUPPRESS: from its words to the queries of its kernel."""
