"""The order in which signals are learned: images one after the other, their tiles mixed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..errors import ArtefactWarning, InputError
from ..model.pose import Observed, observe
from .settings import Settings
from .signals import Piece, pieces
from .source import Source
from .start import IMAGES, REGIONS, TILES, random_numbers

AUTO_WINDOW, AUTO_WINDOW_BYTES = 64, 1 << 25  # images at most, and where no more are added


def stream(
    source: Source, settings: Settings, *, seed: int, epoch: int, first: int, permute: bool
) -> Iterator[Piece]:
    """The signals of one pass. Nothing but its arguments decides on the order.

    Images come in random order if they can be indexed, where `permute` asks for it; then the
    tiles of every `window` images are mixed, by default of 64, or of 32 MB. `first` is the
    number of the first image.
    """
    if permute and settings.shuffle and source.can_index:
        order = random_numbers(seed, IMAGES, epoch).permutation(len(source))
        images = source.ordered(int(i) for i in order)
    else:
        images = iter(source)
    cut = _cut(images, source, settings, seed=seed, epoch=epoch, first=first)
    if not settings.shuffle or settings.split is None:
        for found in cut:
            yield from found
        return
    done, broken = first, None
    while broken is None:
        window: list[list[Piece]] = []
        try:
            for found in _window(cut, settings.window):
                window.append(found)
        except Exception as error:  # raised below, once the images before it are learned
            broken = error
        if not window:
            break
        mixed = [piece for found in window for piece in found]
        places = random_numbers(seed, TILES, epoch, done).permutation(len(mixed))
        yield from (mixed[i] for i in places)
        done += len(window)
    if broken is not None:
        raise broken


def _window(cut: Iterator[list[Piece]], size: int | None) -> Iterator[list[Piece]]:
    """The next images whose tiles are mixed: so many, or as many as memory is no concern for."""
    if size is not None:
        yield from islice(cut, size)
        return
    held = 0
    for found in islice(cut, AUTO_WINDOW):
        yield found
        held += sum(piece.s.nbytes + (0 if piece.w is None else piece.w.nbytes) for piece in found)
        if held >= AUTO_WINDOW_BYTES:
            return


def _cut(
    images: Iterator[tuple[int, Any, Any]],
    source: Source,
    settings: Settings,
    *,
    seed: int,
    epoch: int,
    first: int,
) -> Iterator[list[Piece]]:
    """The signals of each image."""
    for index, image, mask in images:
        number = first + index
        try:
            observed = observe(
                image, mask, boundary=settings.boundary, channel_axis=settings.channel_axis
            )
            _check(observed, settings)
        except InputError as error:
            if source.leave_out(index, error):
                continue
            raise InputError(f"image {number}: {error}") from error
        rng = random_numbers(seed, REGIONS, epoch, number) if settings.random_regions else None
        yield pieces(observed, number, split=settings.split, rng=rng, dtype=settings.dtype)


def _check(observed: Observed, settings: Settings) -> None:
    spatial, kernel = observed.frame.spatial, settings.kernel
    if len(spatial) != len(kernel):
        raise InputError(
            f"it has shape {observed.frame.shape}, that is {len(spatial)} spatial axes, but "
            f"kernels of shape {kernel} call for {len(kernel)}"
        )
    if settings.boundary == "free":
        return
    tile = spatial
    if settings.split is not None:
        tile = tuple(n // -(-n // most) for n, most in zip(spatial, settings.split, strict=True))
    if any(n < k for n, k in zip(tile, kernel, strict=True)):
        raise InputError(
            f"kernels of shape {kernel} do not fit on a signal of shape {tile} under a circular "
            "boundary: use smaller kernels, larger tiles, or boundary='free'"
        )
    if any(k > 1 and n < 2 * k for n, k in zip(tile, kernel, strict=True)):
        warnings.warn(
            f"signals of shape {tile} are smaller than twice the kernels' shape {kernel}: the "
            "circular boundary will leave artefacts; boundary='free' has none",
            ArtefactWarning,
            stacklevel=6,
        )
