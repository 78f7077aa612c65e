"""Hermitian matrices, one per frequency, stored once: the pairs m ≤ n.

Frequencies come in blocks of one vector. Block by block, a matrix holds its pairs in order,
and a spectrum its channels and kernels; each is a vector of real parts and one of imaginary
parts. So everything streams through the cache once, front to back.
"""

from __future__ import annotations

from typing import Any

from .compile import kernel
from .lanes import fused, load, multiply, negative, splat, store


@kernel
def apply_hermitian(
    first: int, last: int, a: Any, n_kernels: int, n_channels: int, lanes: int, d: Any, y: Any
) -> None:
    """ŷ_m = Σ_n Â_mn d̂_n at the frequencies of blocks first … last − 1."""
    step = 2 * lanes
    zero = splat(a.dtype.type(0))
    for block in range(first, last):
        for c in range(n_channels):
            base = (block * n_channels + c) * n_kernels * step
            for o in range(base, base + n_kernels * step, lanes):
                store(y, o, zero)
            q = block * (n_kernels * (n_kernels + 1) // 2) * step
            for m in range(n_kernels):
                o = base + m * step
                dr, di = load(d, o), load(d, o + lanes)
                real, imaginary = load(y, o), load(y, o + lanes)
                ar = load(a, q)  # the diagonal is real
                real = fused(ar, dr, real)
                imaginary = fused(ar, di, imaginary)
                q += step
                for n in range(m + 1, n_kernels):
                    u = base + n * step
                    ar, ai = load(a, q), load(a, q + lanes)
                    er, ei = load(d, u), load(d, u + lanes)
                    # ŷ_m += Â_mn d̂_n
                    real = fused(negative(ai), ei, fused(ar, er, real))
                    imaginary = fused(ai, er, fused(ar, ei, imaginary))
                    # ŷ_n += conj(Â_mn) d̂_m
                    yr, yi = load(y, u), load(y, u + lanes)
                    store(y, u, fused(ai, di, fused(ar, dr, yr)))
                    store(y, u + lanes, fused(negative(ai), dr, fused(ar, di, yi)))
                    q += step
                store(y, o, real)
                store(y, o + lanes, imaginary)


@kernel
def add_outer(
    first: int, last: int, x: Any, weight: Any, n_kernels: int, lanes: int, a: Any
) -> None:
    """Â_mn += weight · conj(x̂_m) x̂_n at the frequencies of blocks first … last − 1."""
    step = 2 * lanes
    scale = splat(weight)
    for block in range(first, last):
        base = block * n_kernels * step
        q = block * (n_kernels * (n_kernels + 1) // 2) * step
        for m in range(n_kernels):
            xr = multiply(scale, load(x, base + m * step))
            xi = multiply(scale, load(x, base + m * step + lanes))
            for n in range(m, n_kernels):
                u = base + n * step
                yr, yi = load(x, u), load(x, u + lanes)
                store(a, q, fused(xi, yi, fused(xr, yr, load(a, q))))
                real = fused(negative(xi), yr, load(a, q + lanes))
                store(a, q + lanes, fused(xr, yi, real))
                q += step


@kernel
def to_blocks(first: int, last: int, spectra: Any, lanes: int, blocks: Any) -> None:
    """Rows of spectra (rows, frequencies), one after the other, as rows first … last − 1."""
    n = spectra.shape[1]
    for row in range(first, last):
        spectrum = spectra[row - first]
        for block in range(blocks.shape[0]):
            f = block * lanes
            real, imaginary = blocks[block, row, 0], blocks[block, row, 1]
            for lane in range(min(lanes, n - f)):
                real[lane] = spectrum[f + lane].real
                imaginary[lane] = spectrum[f + lane].imag


@kernel
def from_blocks(blocks: Any, lanes: int, spectra: Any) -> None:
    """The inverse of `to_blocks`, for all rows."""
    n = spectra.shape[1]
    for row in range(spectra.shape[0]):
        spectrum = spectra[row]
        for block in range(blocks.shape[0]):
            f = block * lanes
            real, imaginary = blocks[block, row, 0], blocks[block, row, 1]
            for lane in range(min(lanes, n - f)):
                spectrum[f + lane] = complex(real[lane], imaginary[lane])
