"""Whatever the user iterates over, as images with their masks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..signals.folder import SignalFiles
from ..signals.steps import visible
from .loaders import Items, Unbatched, is_loader


class Source:
    """Images and their masks: how many, if that is known, and how to go through them.

    Files are read ahead, prepared by `steps`, and left out if they are of no use; arrays are
    taken as they are.
    """

    def __init__(
        self,
        images: Any,
        mask: Any,
        n_axes: int,
        channel_axis: int | None,
        steps: Any = "auto",
    ) -> None:
        self._n_axes, self._channel_axis, self._steps = n_axes, channel_axis, steps
        self._wanted = n_axes + (channel_axis is not None)
        self._images = self._many(images)
        self.files = self._images if isinstance(self._images, SignalFiles) else None
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
        if self.files is not None:
            yield from self.files.ahead(order, self._mask_of)
            return
        for index in order:
            yield index, self._images[index], self._mask_of(index)

    def leave_out(self, index: int, error: InputError) -> bool:
        """Whether an image that is of no use may be left out: files may, up to a share of them."""
        if self.files is None:
            return False
        self.files.leave_out(index, error)
        return True

    def _mask_of(self, index: int) -> Any:
        if self._masks is None:
            return self._mask
        if isinstance(self._masks, SignalFiles):
            return visible(self._masks.stored(index))
        return self._masks[index]

    def _many(self, images: Any) -> Any:
        """Something that yields one image after another."""
        if _are_paths(images):
            return SignalFiles(
                images, n_axes=self._n_axes, channel_axis=self._channel_axis, steps=self._steps
            )
        if isinstance(images, SignalFiles):
            if (images.n_axes, images.channel_axis) != (self._n_axes, self._channel_axis):
                raise InputError(
                    f"images were opened for kernels of {images.n_axes} axes and channel_axis="
                    f"{images.channel_axis}, but these are {self._n_axes} and {self._channel_axis}"
                )
            return images
        if isinstance(images, bytes):
            raise InputError(f"images is {images!r}: give paths as text")
        if is_loader(images):
            return Unbatched(images, self._wanted)
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
            return Items(images, self._wanted) if _can_index(images) else images
        if n_axes not in (self._wanted, self._wanted + 1):
            raise InputError(
                f"images has shape {images.shape}: for these kernels give one image of "
                f"{self._wanted} axes, several along a first axis, or a list of them"
            )
        return [images] if n_axes == self._wanted else images

    def _shared_or_many(self, mask: Any) -> tuple[Any, Any]:
        """(the mask of all images, None), or (None, one mask per image)."""
        if _are_paths(mask):
            mask = SignalFiles(mask, n_axes=self._n_axes, steps=None, most_bad=0.0)
            if len(mask) == 1:
                return visible(mask.stored(0)), None
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


def _are_paths(images: Any) -> bool:
    if isinstance(images, list | tuple):
        return len(images) > 0 and all(_are_paths(one) for one in images)
    return isinstance(images, str | os.PathLike)


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
