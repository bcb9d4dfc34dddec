"""MATCH_RECOGNIZE: what is asked when its words have been read and checked."""
