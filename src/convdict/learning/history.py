"""One record a step, kept in columns of plain numbers: a long run stays small."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from ..errors import FileFormatError
from ..model.problem import Array


class Record(NamedTuple):
    """What one step did. All numbers are in the learner's own precision."""

    step: float  # number of the update, from 1
    time: float  # seconds spent learning so far, without what callbacks and validation took
    value: float  # mean functional value of the batch's signals, before the update
    gap: float  # the largest relative duality gap of their codes
    density: float  # share of coefficients that are not zero
    n_iter: float  # FISTA iterations, or gradient steps
    residual: float  # of the fixed point, where the update stopped
    change: float  # ‖d⁺ − d‖
    forgetting: float  # α: the share of the past that was kept (0 for gradient steps)
    surrogate: float  # surrogate value after the update (NaN for gradient steps)
    unused: float  # kernels that hardly any code uses
    duplicates: float  # kernels that are another one, shifted or negated
    restless: float  # kernels that this update turned by more than 60 degrees
    repaired: float  # kernels that were seeded anew after the update


class History(Sequence[Record]):
    """All records: `history[-1].value`, or `history.value` for a whole column."""

    def __init__(self) -> None:
        self._columns = {name: array("d") for name in Record._fields}

    def append(self, record: Record) -> None:
        for column, number in zip(self._columns.values(), record, strict=True):
            column.append(number)

    def __len__(self) -> int:
        return len(self._columns["step"])

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Record(*(column[index] for column in self._columns.values()))

    def __iter__(self) -> Iterator[Record]:
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name: str) -> Array:
        if name in Record._fields:
            return np.array(self._columns[name])
        raise AttributeError(f"history has no column {name!r}: it has {', '.join(Record._fields)}")

    def __repr__(self) -> str:
        if not len(self):
            return "<History: no steps yet>"
        last = self[-1]
        return f"<History: {len(self)} steps, {last.time:.3g} s, last value {last.value:.6g}>"

    def table(self) -> Array:
        """Everything, one row a step."""
        return np.array([self._columns[name] for name in Record._fields]).T

    @classmethod
    def of(cls, table: Any, names: Sequence[str]) -> History:
        """From what `table` gave, whatever columns have come since."""
        history = cls()
        table = np.asarray(table, np.float64)
        if table.ndim != 2 or table.shape[1] != len(names):
            raise FileFormatError("the history's columns do not fit their names")
        known: Mapping[str, Array] = dict(zip(names, table.T, strict=True))
        blank = np.full(len(table), np.nan)
        for name, column in history._columns.items():
            column.extend(known.get(name, blank))
        return history
