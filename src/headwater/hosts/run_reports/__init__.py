"""What a run reports, for every way in: columns of answers, the closing summary, and Spark's table and its trouble in words."""
