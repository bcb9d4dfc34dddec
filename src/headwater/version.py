"""Which Headwater is this? A file of its own, so that nothing else is imported to find out."""

from typing import Final

__version__: Final = "0.1.0"
