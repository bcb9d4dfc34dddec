"""FOLLOW: situations around those who move. See `kernel`."""

from headwater.kernels.follow.kernel import FollowKernel
from headwater.kernels.follow.store import StoreKernel

__all__ = ["FollowKernel", "StoreKernel"]
