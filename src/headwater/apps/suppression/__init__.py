"""What SUPPRESS saves on recorded readings: every predictor with every tolerance, as a table, a CSV and a picture.

`choices` says what is compared, `recorded` reads the samples of a query, `comparison` counts, `picture` draws.
"""

__all__: list[str] = []
