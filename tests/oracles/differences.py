"""Forward differences as one dense matrix, built axis by axis from Kronecker products."""

import numpy as np


def dense_gradient(grid):
    """Rows: every axis, every pixel in raster order; the row of a last pixel is zero."""
    blocks = []
    for axis, n in enumerate(grid):
        along = np.eye(n, k=1) - np.eye(n)
        along[-1] = 0.0
        block = np.eye(1)
        for other, size in enumerate(grid):
            block = np.kron(block, along if other == axis else np.eye(size))
        blocks.append(block)
    return np.concatenate(blocks)
