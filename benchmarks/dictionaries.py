"""Dictionaries to code with, float32, (M, *kernel), every kernel of unit norm."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def load(file: Path | None) -> np.ndarray:
    """The dictionary in `file` (.npy, kernels first), or SPORCO's 64 kernels of 12×12."""
    if file is None:
        return packaged_with_sporco()
    d = np.load(file)
    if d.ndim != 3:
        raise ValueError(f"{file} has shape {d.shape}: give (kernels, rows, columns)")
    return normalised(d)


def packaged_with_sporco(name: str = "G:12x12x64") -> np.ndarray:
    import sporco

    archive = Path(sporco.__file__).parent / "data" / "convdict.npz"
    with np.load(archive) as stored:
        return normalised(np.moveaxis(stored[name], -1, 0))


def gabor(n_kernels: int, size: int, seed: int = 0) -> np.ndarray:
    """Seeded random oriented waves under a window: any number of kernels, of any size.

    They look much like learned kernels, so codes come out about as sparse as those are.
    """
    rng = np.random.default_rng(seed)
    grid = np.arange(size) - (size - 1) / 2
    y, x = np.meshgrid(grid, grid, indexing="ij")
    d = np.empty((n_kernels, size, size))
    for m in range(n_kernels):
        angle, phase = rng.uniform(0.0, np.pi), rng.uniform(0.0, 2.0 * np.pi)
        wavelength = np.exp(rng.uniform(np.log(2.5), np.log(1.5 * max(size, 4))))
        long, short = size * rng.uniform(0.15, 0.45), size * rng.uniform(0.08, 0.25)
        cy, cx = rng.uniform(-0.15, 0.15, 2) * size
        along = (x - cx) * np.cos(angle) + (y - cy) * np.sin(angle)
        across = (y - cy) * np.cos(angle) - (x - cx) * np.sin(angle)
        window = np.exp(-0.5 * ((across / long) ** 2 + (along / short) ** 2))
        d[m] = window * np.cos(2.0 * np.pi * along / wavelength + phase)
    d -= d.mean(axis=(1, 2), keepdims=True)
    return normalised(d)


def noise(n_kernels: int, size: int, seed: int = 0) -> np.ndarray:
    """Seeded Gaussian noise: where learning starts."""
    rng = np.random.default_rng(seed)
    return normalised(rng.standard_normal((n_kernels, size, size)))


def normalised(d: np.ndarray) -> np.ndarray:
    """d_m / ‖d_m‖, the norms correct in float64."""
    d = np.asarray(d, dtype=np.float64)
    norms = np.sqrt((d * d).sum(axis=tuple(range(1, d.ndim)), keepdims=True))
    return np.ascontiguousarray(d / np.maximum(norms, 1e-12), dtype=np.float32)
