"""What the conditions and measures of MATCH_RECOGNIZE look at, taken apart for the engine (`terms`)."""

__all__: list[str] = []
