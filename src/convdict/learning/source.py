"""Whatever the user iterates over, as images with their masks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError


class Source:
    """Images and their masks: how many, if that is known, and how to go through them."""

    def __init__(self, images: Any, mask: Any, n_axes: int, channel_axis: int | None) -> None:
        self._n_axes, self._channel_axis = n_axes, channel_axis
        self._wanted = n_axes + (channel_axis is not None)
        self._images = self._many(images)
        self.can_index = _can_index(self._images)
        if self.can_index and len(self._images) == 0:
            raise InputError("images is empty: give at least one")
        self._mask, self._masks = self._shared_or_many(mask)
        self.can_repeat = all(
            _can_index(many) or iter(many) is not many
            for many in (self._images, self._masks)
            if many is not None
        )

    def __len__(self) -> int:
        return len(self._images) if self.can_index else 0

    def __iter__(self) -> Iterator[tuple[int, Any, Any]]:
        """(index, image, mask), in the order they come."""
        if self.can_index:
            yield from self.ordered(range(len(self)))
            return
        masks = None if self._masks is None else iter(self._masks)
        for index, image in enumerate(self._images):
            try:
                yield index, image, self._mask if masks is None else next(masks)
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
        if hasattr(images, "toarray"):
            raise InputError("images is a sparse matrix: give its toarray(), which is dense")
        if hasattr(images, "to_numpy"):  # tables iterate over the names of their columns
            images = images.to_numpy()
        elif hasattr(images, "__array__") and not hasattr(images, "ndim"):
            images = np.asarray(images)
        n_axes = _n_axes(images)
        if n_axes is None:
            if isinstance(images, Mapping) or not (
                isinstance(images, Iterable) or _can_index(images)
            ):
                raise InputError(
                    f"images is a {type(images).__name__}: give arrays, or an iterable of them"
                )
            return images
        if n_axes not in (self._wanted, self._wanted + 1):
            raise InputError(
                f"images has shape {images.shape}: for these kernels give one image of "
                f"{self._wanted} axes, several along a first axis, or a list of them"
            )
        return [images] if n_axes == self._wanted else images

    def _shared_or_many(self, mask: Any) -> tuple[Any, Any]:
        """(the mask of all images, None), or (None, one mask per image)."""
        if hasattr(mask, "to_numpy"):
            mask = mask.to_numpy()
        n_axes = _n_axes(mask)
        if (n_axes is not None and not self._is_stack(mask, n_axes)) or np.isscalar(mask):
            return mask, None
        if mask is None:
            return None, None
        if self.can_index and not _can_index(mask):
            mask = list(mask)
        if self.can_index and len(mask) != len(self):
            raise InputError(
                f"mask has {len(mask)} entries but there are {len(self)} images: give one "
                "per image, or one array for all"
            )
        return None, mask

    def _is_stack(self, mask: Any, n_axes: int) -> bool:
        """Whether an array holds a mask for each image, perhaps the same for all channels."""
        if n_axes != self._wanted or self._channel_axis is None or not self.can_index:
            return n_axes > self._wanted
        shape = np.shape(self._images[0])
        spatial = np.delete(shape, self._channel_axis) if len(shape) == self._wanted else ()
        return bool(mask.shape != shape and mask.shape[1:] == tuple(spatial))


def _can_index(many: Any) -> bool:
    return hasattr(many, "__len__") and hasattr(many, "__getitem__")


def _n_axes(array: Any) -> int | None:
    """None for what is not an array of numbers: an array of objects is a list of them."""
    if (
        getattr(getattr(array, "dtype", None), "kind", "") == "O"
        and getattr(array, "shape", ()) != ()
    ):
        return None
    n_axes: int | None = getattr(array, "ndim", None)
    return n_axes
