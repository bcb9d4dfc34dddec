"""A plain SELECT: rows as they come."""
