"""Compilation of the inner loops; only modules that are imported at the first `fit` use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def jit(function: Function) -> Function:
    """Compile ``function``, and keep the result on disk where the installation can be written to.

    Without the fallback a read-only installation without a home (a container) could not import.
    """
    compiled: Any
    try:
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no place for a cache
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Function, compiled)
