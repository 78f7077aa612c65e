"""How good a dictionary is: the certified mean functional value on images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from ..coding.sparse_code import sparse_code
from ..errors import InputError
from ..model.codes import Codes
from ..model.problem import Array
from ..threads import get_num_threads, parallel_map
from .source import Source

PER_THREAD = 4  # images in memory at once


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
    preprocess: Any = "auto",
) -> Evaluation:
    """Code all images with a dictionary and say what it costs.

    Every value is min over x of ½‖W⊙(Σ_m d_m * x_m − s)‖² + λ‖x‖₁, up to a certified gap of
    `tol`; other arguments are those of `sparse_code`, with `images` and `mask` for many. Images
    that are files are prepared by `preprocess`, as a learner does.
    """
    values, gaps, nnz, n_coefficients = [], [], 0, 0
    for codes in code_images(
        dictionary,
        images,
        mask,
        penalty=penalty,
        tol=tol,
        boundary=boundary,
        channel_axis=channel_axis,
        nonnegative=nonnegative,
        solver=solver,
        preprocess=preprocess,
    ):
        values.append(codes.objective)
        gaps.append(codes.gap)
        nnz += codes.nnz
        n_coefficients += prod(codes.shape)
    return Evaluation(np.array(values), np.array(gaps), nnz / n_coefficients)


def code_images(
    dictionary: Any,
    images: Any,
    mask: Any,
    *,
    channel_axis: int | None,
    preprocess: Any = "auto",
    **options: Any,
) -> Iterator[Codes]:
    """`sparse_code` of one image after the other, several at once; never none at all."""
    n_axes = np.ndim(dictionary) - (1 if channel_axis is None else 2)
    if n_axes < 1:
        raise InputError(
            f"dictionary has shape {np.shape(dictionary)}: give (n_kernels, *kernel), or with "
            "channels (n_kernels, n_channels, *kernel) and their axis in the images"
        )

    def code(entry: tuple[int, Any, Any]) -> Codes:
        index, image, its_mask = entry
        try:
            codes = sparse_code(
                image, dictionary, mask=its_mask, channel_axis=channel_axis, **options
            )
            return replace(codes, memory=None)  # larger than the codes, and they are many
        except InputError as error:
            raise InputError(f"image {index}: {error}") from error

    entries = iter(Source(images, mask, n_axes, channel_axis, preprocess))
    empty = True
    while block := list(islice(entries, PER_THREAD * get_num_threads())):
        yield from parallel_map(code, block)
        empty = False
    if empty:
        raise InputError("images is empty: give at least one")
