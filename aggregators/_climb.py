"""A few L-BFGS steps up a smooth function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._types import FloatArray


def climb(
    function: Callable[[FloatArray], tuple[float, FloatArray]], start: FloatArray, steps: int
) -> FloatArray:
    """Where at most ``steps`` steps from ``start`` lead; never to a lower value.

    Args:
        function: value and gradient (shape of ``start``).
        start: any shape.
        steps: at most.
    """
    from scipy import optimize

    minimize: Any = optimize.minimize

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = function(flat.reshape(start.shape))
        return -float(value), -gradient.ravel()

    found = minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 10}
    )
    if found.fun > loss(start.ravel())[0]:
        return start
    return np.asarray(found.x, dtype=np.float64).reshape(start.shape)
