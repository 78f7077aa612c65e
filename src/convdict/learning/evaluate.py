"""How good a dictionary is: the certified mean functional value on images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..coding.sparse_code import sparse_code
from ..errors import InputError
from ..model.codes import Codes
from ..model.problem import Array
from ..threads import parallel_map
from .stream import Source


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Functional values of images. The optimum of each lies in [(1 − gap)·value, value]."""

    values: Array  # one per image
    gaps: Array
    density: float  # share of coefficients that are not zero, over all images

    @property
    def value(self) -> float:
        """The mean functional value: the paper's measure of a dictionary; lower is better."""
        return float(self.values.mean())

    @property
    def gap(self) -> float:
        """The gap of the mean: it is too high by at most gap · value."""
        return float(np.sum(self.gaps * self.values) / max(np.sum(self.values), 1e-300))

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"<Evaluation: mean functional value {self.value:.6g} of {len(self.values)} images, "
            f"gap {self.gap:.1e}, density {100 * self.density:.3g} %>"
        )


def evaluate(
    dictionary: Any,
    images: Any,
    penalty: Any = 0.1,
    mask: Any = None,
    *,
    tol: float = 1e-3,
    boundary: str = "circular",
    channel_axis: int | None = None,
    nonnegative: bool = False,
    solver: Any = "working_set",
) -> Evaluation:
    """Code all images with a dictionary and say what it costs.

    Every value is min over x of ½‖W⊙(Σ_m d_m * x_m − s)‖² + λ‖x‖₁, up to a certified gap of
    `tol`; other arguments are those of `sparse_code`, with `images` and `mask` for many.
    """
    coded = code_images(
        dictionary,
        images,
        mask,
        penalty=penalty,
        tol=tol,
        boundary=boundary,
        channel_axis=channel_axis,
        nonnegative=nonnegative,
        solver=solver,
    )
    return Evaluation(
        values=np.array([codes.objective for codes in coded]),
        gaps=np.array([codes.gap for codes in coded]),
        density=sum(c.nnz for c in coded) / sum(int(np.prod(c.shape)) for c in coded),
    )


def code_images(
    dictionary: Any, images: Any, mask: Any, *, channel_axis: int | None, **options: Any
) -> list[Codes]:
    """`sparse_code` of every image, several at once."""
    n_axes = np.ndim(dictionary) - (1 if channel_axis is None else 2)
    source = Source(images, mask, n_axes, channel_axis)

    def code(entry: tuple[int, Any, Any]) -> Codes:
        index, image, its_mask = entry
        try:
            return sparse_code(
                image, dictionary, mask=its_mask, channel_axis=channel_axis, **options
            )
        except InputError as error:
            raise InputError(f"image {index}: {error}") from error

    coded = parallel_map(code, source)
    if not coded:
        raise InputError("images is empty: give at least one")
    return coded
