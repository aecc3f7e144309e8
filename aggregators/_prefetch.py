"""Ask the processor for memory that will be needed soon.

In the loops over votes nearly all of the time is spent waiting for the memory of the vote's task;
which task that is can be read many votes ahead.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


def _prefetch(_typing: Any, array: Any, row: Any) -> Any:
    """``prefetch(array, row)``: bring ``array[row]`` near; nothing else happens."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, given[0])
        stride = builder.extract_value(view.strides, 0)
        at = given[1]
        if at.type.width < stride.type.width:
            at = builder.sext(at, stride.type)
        byte = builder.bitcast(view.data, ir.IntType(8).as_pointer())
        place = builder.gep(byte, [builder.mul(at, stride)])
        number = ir.IntType(32)
        takes: Any = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        declare: Any = cgutils.get_or_insert_function
        function = declare(builder.module, takes, "llvm.prefetch.p0i8")
        # to read, into every cache, data
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, row), code


prefetch: Any = intrinsic(_prefetch)
