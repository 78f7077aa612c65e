"""PyTorch's data sets and loaders, by what they look like: nothing of PyTorch is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def is_loader(images: Any) -> bool:
    """Whether iterating gives batches, as PyTorch's DataLoader does."""
    return all(hasattr(images, name) for name in ("__iter__", "dataset", "batch_size"))


class Items:
    """A list, or a data set that can be indexed: of (image, label, …) the image."""

    def __init__(self, images: Any, wanted: int) -> None:
        self._images, self._wanted = images, wanted

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> Any:
        return _image(self._images[index], self._wanted)


class Unbatched:
    """The images of a loader's batches, one by one."""

    def __init__(self, loader: Any, wanted: int) -> None:
        self._loader, self._wanted = loader, wanted

    def __iter__(self) -> Iterator[Any]:
        for batch in self._loader:
            images = _first(batch)
            if self._loader.batch_size is None:
                yield _image(images, self._wanted)
            else:
                yield from (_image(image, self._wanted) for image in images)


def _first(item: Any) -> Any:
    """What comes before labels and the like."""
    return item[0] if isinstance(item, tuple | list) and hasattr(item[0], "ndim") else item


def _image(item: Any, wanted: int) -> Any:
    """An image as an array; a tensor's only channel is dropped where none are wanted."""
    if isinstance(item, tuple) and item and getattr(item[0], "ndim", 0) >= wanted:
        item = item[0]
    if hasattr(item, "detach"):
        item = np.asarray(item.detach().cpu())
        if item.ndim == wanted + 1 and item.shape[0] == 1:
            item = item[0]
    return item
