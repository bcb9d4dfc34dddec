"""FENCE: who enters what. See `kernel`."""

from headwater.kernels.fence.kernel import FenceKernel

__all__ = ["FenceKernel"]
