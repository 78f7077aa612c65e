"""Sixteen floats at a time: a 64-byte vector as a value inside compiled kernels.

The compiler vectorises simple loops by itself, but not the two that matter here: a block of
accumulators that must stay in registers (correlation), and short sums of products over the
rows of a kernel (coordinate descent). This module gives them a vector type and the few
operations they use. LLVM maps it to what the processor has: one AVX-512 register, two of
AVX2, four of NEON.

Elements are not aligned. An array argument is one-dimensional and contiguous; nothing checks
that `index + lanes` stays inside it, so buffers carry slack at their end.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

VECTOR_BYTES = 64


def lane_count(dtype: Any) -> int:
    """How many elements of `dtype` one vector holds."""
    return VECTOR_BYTES // int(dtype.itemsize)


class Lanes(types.Type):  # type: ignore[misc]
    """A vector of 64 bytes of `element`, float32 or float64."""

    def __init__(self, element: types.Float) -> None:
        self.element = element
        self.count = 8 * VECTOR_BYTES // element.bitwidth
        super().__init__(name=f"Lanes({element})")

    @property
    def suffix(self) -> str:
        """How LLVM names the vector in its intrinsics."""
        return f"v{self.count}f{self.element.bitwidth}"


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        element = manager.lookup(lanes.element).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(element, lanes.count))


_INT32 = ir.IntType(32)


def _pointer(context: Any, builder: Any, array: Any, value: Any, index: Any, lanes: Lanes) -> Any:
    data = context.make_array(array)(context, builder, value).data
    vector = context.get_value_type(lanes)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _call(builder: Any, name: str, arguments: Any) -> Any:
    """Call an LLVM intrinsic whose arguments and result are all of one vector type."""
    vector = arguments[0].type
    signature = ir.FunctionType(vector, [vector] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, arguments)


def _shuffled(builder: Any, vector: Any, picks: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_INT32, len(picks)), picks)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


@intrinsic
def load(typing: Any, array: Any, index: Any) -> Any:
    """array[index : index + lanes]"""
    lanes = Lanes(array.dtype)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = builder.load(_pointer(context, builder, array, arguments[0], arguments[1], lanes))
        value.align = lanes.element.bitwidth // 8
        return value

    return lanes(array, types.intp), emit


@intrinsic
def store(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """array[index : index + lanes] = lanes"""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, array, arguments[0], arguments[1], lanes)
        builder.store(arguments[2], pointer).align = lanes.element.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic
def splat(typing: Any, element: Any) -> Any:
    """The same number in every lane."""
    lanes = Lanes(element)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        empty = ir.Constant(context.get_value_type(lanes), ir.Undefined)
        one = builder.insert_element(empty, arguments[0], ir.Constant(_INT32, 0))
        return _shuffled(builder, one, [0] * lanes.count)

    return lanes(element), emit


@intrinsic
def add(typing: Any, a: Any, b: Any) -> Any:
    """a + b"""
    return a(a, b), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@intrinsic
def multiply(typing: Any, a: Any, b: Any) -> Any:
    """a · b"""
    return a(a, b), lambda context, builder, signature, arguments: builder.fmul(*arguments)


@intrinsic
def negative(typing: Any, a: Any) -> Any:
    """−a"""
    return a(a), lambda context, builder, signature, arguments: builder.fneg(*arguments)


@intrinsic
def fused(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c, in one instruction where there is one"""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.fmuladd.{a.suffix}", arguments)

    return a(a, b, c), emit


@intrinsic
def magnitude(typing: Any, a: Any) -> Any:
    """|a|"""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.fabs.{a.suffix}", arguments)

    return a(a), emit


@intrinsic
def root(typing: Any, a: Any) -> Any:
    """√a"""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, f"llvm.sqrt.{a.suffix}", arguments)

    return a(a), emit


@intrinsic
def where_larger(typing: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """yes where a > b, otherwise no"""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        larger = builder.fcmp_ordered(">", arguments[0], arguments[1])
        return builder.select(larger, arguments[2], arguments[3])

    return yes(a, b, yes, no), emit


@intrinsic
def total(typing: Any, a: Any) -> Any:
    """The sum over the lanes, halves first, so that its order never changes."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (rest,) = arguments
        count = a.count
        while count > 1:
            count //= 2
            low = _shuffled(builder, rest, list(range(count)))
            high = _shuffled(builder, rest, list(range(count, 2 * count)))
            rest = builder.fadd(low, high)
        return builder.extract_element(rest, ir.Constant(_INT32, 0))

    return a.element(a), emit


@intrinsic
def highest(typing: Any, a: Any) -> Any:
    """The largest element."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (rest,) = arguments
        count = a.count
        while count > 1:
            count //= 2
            low = _shuffled(builder, rest, list(range(count)))
            high = _shuffled(builder, rest, list(range(count, 2 * count)))
            rest = builder.select(builder.fcmp_ordered(">", high, low), high, low)
        return builder.extract_element(rest, ir.Constant(_INT32, 0))

    return a.element(a), emit
