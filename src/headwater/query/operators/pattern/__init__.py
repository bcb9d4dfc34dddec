"""MATCH_RECOGNIZE: from its words to the queries of its kernel."""
