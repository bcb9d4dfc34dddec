"""PREDICT: when are conditions on predicted lines true? Of one sensor, or of pairs of them that need not report together."""

from headwater.kernels.predict.kernel import PredictKernel, PredictState
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery, Value
from headwater.kernels.predict.words import Certainty, Comparator, GiveUp

__all__ = [
    "Alias",
    "Certainty",
    "Comparator",
    "Difference",
    "Distance",
    "GiveUp",
    "PredictKernel",
    "PredictQuery",
    "PredictState",
    "Value",
]
