"""Expressions: their types, their values over columns, and the same in Spark SQL."""

from headwater.query.expressions.evaluate import Condition, condition, evaluate, evaluate_constant
from headwater.query.expressions.functions import FUNCTIONS
from headwater.query.expressions.kinds import ExprType, column_key
from headwater.query.expressions.spark_sql import is_said_by_spark, to_spark_sql
from headwater.query.expressions.types import type_of

__all__ = [
    "FUNCTIONS", "Condition", "ExprType", "column_key", "condition", "evaluate", "evaluate_constant", "is_said_by_spark",
    "to_spark_sql", "type_of",
]  # fmt: skip
