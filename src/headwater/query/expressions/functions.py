"""Which functions does the language have?

Rule 1  A function of NULL is NULL, but for those that choose among their arguments and say themselves what they do.
Rule 2  A DOUBLE result that is infinite or no number is NULL.
Rule 3  A function has a Spark form only where Spark gives the same result to the last bit: filtering early must not change
        an answer. Sines, logarithms and capital letters differ between libraries, so they are worked out in Python alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headwater.query.expressions.choice_functions import CHOICE_FUNCTIONS
from headwater.query.expressions.function_table import Function
from headwater.query.expressions.number_functions import NUMBER_FUNCTIONS
from headwater.query.expressions.text_functions import TEXT_FUNCTIONS
from headwater.query.expressions.time_functions import TIME_FUNCTIONS

FUNCTIONS: Final[Mapping[str, Function]] = {
    function.name: function
    for function in (*NUMBER_FUNCTIONS, *CHOICE_FUNCTIONS, *TEXT_FUNCTIONS, *TIME_FUNCTIONS)
}
