"""Names for the arrays that the algorithms pass around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with (steps done, steps in all) while `fit` works."""

Ids: TypeAlias = Any
"""One-dimensional ids as the caller gave them: an array, a pandas index or a polars series."""
