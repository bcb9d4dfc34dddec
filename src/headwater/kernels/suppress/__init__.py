"""SUPPRESS: a sensor sends lines instead of readings, and only when the last line no longer holds."""

from headwater.kernels.suppress.kernel import SuppressKernel
from headwater.kernels.suppress.question import SuppressQuery
from headwater.kernels.suppress.words import Predictor

__all__ = ["Predictor", "SuppressKernel", "SuppressQuery"]
