"""From whatever the user iterates over to the order in which signals are learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.pose import Observed, observe
from .settings import Settings
from .signals import Piece, pieces


class Source:
    """Images and their masks: how many, if that is known, and how to go through them."""

    def __init__(self, images: Any, mask: Any, n_axes: int, channel_axis: int | None) -> None:
        self._wanted = n_axes + (channel_axis is not None)
        self._images = self._many(images)
        self._mask = mask
        self.given = 0  # images handed out so far
        self.can_index = hasattr(self._images, "__len__") and hasattr(self._images, "__getitem__")
        self.can_repeat = self.can_index or iter(self._images) is not self._images
        if self.can_index and len(self._images) == 0:
            raise InputError("images is empty: give at least one")
        self._masks = None if mask is None else self._many_masks(mask)

    def __len__(self) -> int:
        return len(self._images) if self.can_index else 0

    def __iter__(self) -> Iterator[tuple[int, Any, Any]]:
        """(index, image, mask), in the order they come."""
        masks = None if self._masks is None else iter(self._masks)
        for index, image in enumerate(self._images):
            self.given += 1
            if masks is None:
                yield index, image, self._mask
                continue
            try:
                yield index, image, next(masks)
            except StopIteration:
                raise InputError(f"mask ends before image {index}: give one per image") from None

    def ordered(self, order: Iterable[int]) -> Iterator[tuple[int, Any, Any]]:
        """The same in another order, where they can be indexed."""
        for index in order:
            mask = self._mask if self._masks is None else self._masks[index]
            yield index, self._images[index], mask

    def _many(self, images: Any) -> Any:
        """Something that yields one image after another."""
        if isinstance(images, str | bytes) or hasattr(images, "__fspath__"):
            raise InputError(
                f"images is the path {images!r}: read the files first and give arrays, or an "
                "iterable that reads them one by one"
            )
        if isinstance(images, np.ndarray) and images.dtype != object:
            if images.ndim == self._wanted:
                return [images]
            if images.ndim != self._wanted + 1:
                raise InputError(
                    f"images has shape {images.shape}: for these kernels give one image of "
                    f"{self._wanted} axes, several along a first axis, or a list of them"
                )
            return images
        if not isinstance(images, Iterable):
            raise InputError(f"images is a {type(images).__name__}: give arrays, or an iterable")
        return images

    def _many_masks(self, mask: Any) -> Any:
        """One mask per image; None where one is for all."""
        if isinstance(mask, np.ndarray) and mask.dtype != object:
            shared = mask.ndim < self._wanted or (
                mask.ndim == self._wanted and not self._is_stack(mask)
            )
            return None if shared else mask
        if self.can_index and not hasattr(mask, "__getitem__"):
            mask = list(mask)
        if self.can_index and len(mask) != len(self._images):
            raise InputError(
                f"mask has {len(mask)} entries but there are {len(self._images)} images: give one "
                "per image, or one array for all"
            )
        return mask

    def _is_stack(self, mask: np.ndarray) -> bool:
        """Whether a mask of as many axes as an image is one per image, without channels."""
        return self.can_index and mask.shape[1:] == np.shape(self._images[0])[: mask.ndim - 1]


def stream(
    source: Source, settings: Settings, *, seed: int, epoch: int, first: int, permute: bool
) -> Iterator[Piece]:
    """The signals of one pass. Nothing but its arguments decides on the order.

    Images come in random order if they can be indexed, where `permute` asks for it; then the
    tiles of every `window` images are mixed. `first` is the number of the first image.
    """
    if permute and settings.shuffle and source.can_index:
        order = np.random.default_rng([seed, epoch]).permutation(len(source))
        images = source.ordered(int(i) for i in order)
    else:
        images = iter(source)
    done = 0
    while window := list(islice(_seen(images, settings, first), settings.window)):
        rng = np.random.default_rng([seed, epoch, 1 + first + done])
        found = [
            piece
            for index, observed in window
            for piece in pieces(
                observed,
                index,
                split=settings.split,
                rng=rng if settings.random_regions else None,
                dtype=settings.dtype,
            )
        ]
        mixed = settings.shuffle and settings.split is not None
        yield from (found[i] for i in rng.permutation(len(found))) if mixed else found
        done += len(window)


def _seen(
    images: Iterator[tuple[int, Any, Any]], settings: Settings, first: int
) -> Iterator[tuple[int, Observed]]:
    for index, image, mask in images:
        number = first + index
        try:
            observed = observe(
                image, mask, boundary=settings.boundary, channel_axis=settings.channel_axis
            )
            _check(observed, settings)
        except InputError as error:
            raise InputError(f"image {number}: {error}") from error
        yield number, observed


def _check(observed: Observed, settings: Settings) -> None:
    spatial, kernel = observed.frame.spatial, settings.kernel
    if len(spatial) != len(kernel):
        raise InputError(
            f"it has shape {observed.frame.shape}, that is {len(spatial)} spatial axes, but "
            f"kernels of shape {kernel} call for {len(kernel)}"
        )
    tile = spatial
    if settings.split is not None:
        tile = tuple(n // -(-n // most) for n, most in zip(spatial, settings.split, strict=True))
    if settings.boundary == "circular" and any(n < k for n, k in zip(tile, kernel, strict=True)):
        raise InputError(
            f"kernels of shape {kernel} do not fit on a signal of shape {tile} under a circular "
            "boundary: use smaller kernels, larger tiles, or boundary='free'"
        )
