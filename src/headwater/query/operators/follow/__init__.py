"""FOLLOW: from its words to the queries of its kernel."""
