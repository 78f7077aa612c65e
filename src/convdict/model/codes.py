"""Sparse codes: what an image looks like in a dictionary, with a proof of how well."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import scipy.sparse

from .. import archive
from ..errors import FileFormatError, InputError
from ..pictures import fired, for_notebook
from .pose import Frame, frame
from .problem import Array, Memory, Triplets

FORMAT = "convdict-codes"
VERSION = 1
WHAT = "convdict codes"


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """Coefficients of one signal, stored sparsely, with their objective and certificate.

    Entry `i` says: kernel `kernel[i]` sits at `position[i]` with weight `value[i]`. Entries
    are sorted by kernel, then by position. Positions count from `origin`, which is zero under
    a circular boundary and 1 − kernel, before the signal's first sample, under a free one.
    """

    kernel: Array  # int32, (nnz,)
    position: Array  # int32, (nnz, n_axes)
    value: Array  # float32 or float64, (nnz,)
    shape: tuple[int, ...]  # of the dense maps: (n_kernels, *positions)
    signal: Frame  # the coded signal's shape, channel axis and boundary
    objective: float = float("nan")  # ½‖W⊙(Σ d*x − s)‖² + Σ λ‖x‖₁, in float64
    gap: float = float("nan")  # relative duality gap: the optimum is above (1 − gap)·objective
    tol: float = float("nan")  # the gap that was asked for
    n_iter: int = 0
    status: str = ""
    memory: Memory | None = None  # of the residual: a start from these codes looks less; not saved

    @classmethod
    def of(cls, codes: Triplets, n_kernels: int, grid: tuple[int, ...], signal: Frame) -> Codes:
        """From flat arrays, without a certificate."""
        position = np.stack(np.unravel_index(codes.position, grid), axis=-1)
        return cls(codes.kernel, position.astype(np.int32), codes.value, (n_kernels, *grid), signal)

    def triplets(self) -> Triplets:
        """Flat arrays: kernel, raveled position, value."""
        flat = np.ravel_multi_index(tuple(self.position.T), self.shape[1:])
        return Triplets(self.kernel, flat.astype(np.int64), self.value)

    @property
    def nnz(self) -> int:
        """How many coefficients are not zero."""
        return len(self.value)

    @property
    def density(self) -> float:
        """The share of coefficients that are not zero."""
        return self.nnz / prod(self.shape)

    @property
    def converged(self) -> bool:
        """Whether the certificate reached what was asked for."""
        return self.gap <= self.tol

    @property
    def boundary(self) -> str:
        return self.signal.boundary

    @property
    def origin(self) -> tuple[int, ...]:
        """The sample of the signal at which position zero lies: (0, …), or before it."""
        spatial = self.signal.spatial
        return tuple(n - m for n, m in zip(spatial, self.shape[1:], strict=True))

    def to_dense(self) -> Array:
        """The maps as one array of shape (n_kernels, *positions)."""
        return self.triplets().to_dense(self.shape[0], self.shape[1:])

    def to_scipy(self) -> scipy.sparse.csr_array:
        """A sparse matrix with a row per kernel and a column per raveled position."""
        kernel, position, value = self.triplets()
        size = (self.shape[0], prod(self.shape[1:]))
        return scipy.sparse.csr_array((value, (kernel, position)), shape=size)

    def __eq__(self, other: object) -> bool:
        """Same coefficients of the same kind of signal; certificates are not compared."""
        if not isinstance(other, Codes):
            return NotImplemented
        return (
            self.shape == other.shape
            and self.signal == other.signal
            and np.array_equal(self.kernel, other.kernel)
            and np.array_equal(self.position, other.position)
            and np.array_equal(self.value, other.value)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        grid = "×".join(map(str, self.shape[1:]))
        counts = f"{self.nnz} nonzeros, {100 * self.density:.3g} %"
        return (
            f"<Codes: {self.shape[0]} kernels on {grid} positions ({self.boundary}), {counts}; "
            f"objective {self.objective:.6g}. {self.status}>"
        )

    def _repr_html_(self) -> str:
        """In a notebook: where every kernel fires."""
        pixels = fired(self.kernel, self.position, self.value, self.shape)
        return for_notebook(pixels, repr(self)[1:-1])

    def __getstate__(self) -> dict[str, Any]:
        """Memory stays behind: it is larger than the codes, and only saves time."""
        return {**self.__dict__, "memory": None}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a compressed NumPy archive, all or nothing; no pickle."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "shape": self.shape,
            "signal_shape": self.signal.shape,
            "channel_axis": self.signal.channel_axis,
            "boundary": self.signal.boundary,
            "objective": self.objective,
            "gap": self.gap,
            "tol": self.tol,
            "n_iter": self.n_iter,
            "status": self.status,
        }
        arrays = {"kernel": self.kernel, "position": self.position, "value": self.value}
        archive.write(path, about, arrays, compress=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codes:
        """Read what `save` wrote; anything else is refused with a sentence."""
        about, arrays = archive.read(path, WHAT)
        archive.check_format(about, path, name=FORMAT, version=VERSION, what=WHAT)
        if arrays.keys() != {"kernel", "position", "value"}:
            raise FileFormatError(f"{path} is damaged: it holds {', '.join(arrays)}")
        return _checked(arrays, about, path)


def _checked(arrays: dict[str, Array], about: Any, path: Any) -> Codes:
    """Codes from a file's content, if it is whole and consistent."""
    try:
        shape = tuple(int(n) for n in about["shape"])
        signal = frame(
            tuple(int(n) for n in about["signal_shape"]),
            channel_axis=about["channel_axis"],
            boundary=about["boundary"],
        )
        codes = Codes(
            arrays["kernel"],
            arrays["position"],
            arrays["value"],
            shape=shape,
            signal=signal,
            objective=float(about["objective"]),
            gap=float(about["gap"]),
            tol=float(about["tol"]),
            n_iter=int(about["n_iter"]),
            status=str(about["status"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError, InputError) as error:
        raise FileFormatError(f"{path} is damaged: {error!r}") from error
    kernel, position, value = codes.kernel, codes.position, codes.value
    limits = np.array(shape[1:])
    sound = (
        kernel.dtype == np.int32
        and position.dtype == np.int32
        and value.dtype in (np.float32, np.float64)
        and kernel.ndim == value.ndim == 1
        and len(shape) - 1 == len(signal.spatial)
        and position.shape == (len(kernel), len(shape) - 1)
        and len(kernel) == len(value)
        and bool(((kernel >= 0) & (kernel < shape[0])).all())
        and bool(((position >= 0) & (position < limits)).all())
        and bool(np.isfinite(value).all())
        and all(n > 0 for n in (*shape, *signal.shape))
        and all(m >= n for m, n in zip(shape[1:], signal.spatial, strict=True))
        and (signal.boundary == "free" or shape[1:] == signal.spatial)
        and prod(shape) < 2**63
        and not codes.gap < -1e-9
    )
    if sound:  # and every coefficient once, in order
        sound = bool((np.diff(np.ravel_multi_index((kernel, *position.T), shape)) > 0).all())
    if not sound:
        raise FileFormatError(f"{path} is damaged: its arrays do not fit together")
    return codes


def certified(codes: Codes, *, objective: float, gap: float, tol: float, n_iter: int) -> Codes:
    """The same codes with their certificate, and the sentence that says what it means."""
    rounds = f"{n_iter} iteration" + ("" if n_iter == 1 else "s")
    if gap <= tol:
        status = f"Converged: gap {gap:.1e} after {rounds}."
    else:
        status = f"Not converged: gap {gap:.1e} after {rounds}, wanted {tol:.1e}."
    return replace(codes, objective=objective, gap=gap, tol=tol, n_iter=n_iter, status=status)
