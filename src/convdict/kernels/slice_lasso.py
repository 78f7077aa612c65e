"""Many small Lassos with one Gram matrix: the sparse coding of slices."""

from __future__ import annotations

from typing import Any

from .compile import kernel


@kernel
def slice_lasso(
    first: int, last: int, gram: Any, limit: Any, tiny: Any, sweeps: int, c: Any, a: Any
) -> None:
    """a[i] = argmin ½aᵀGa − c[i]ᵀa + limit‖a‖₁, from what a holds, by coordinate descent.

    Overwrites c with c − Ga. Stops when no coordinate moves by more than `tiny`.
    """
    n = gram.shape[0]
    for i in range(first, last):
        r, x = c[i], a[i]
        for m in range(n):
            if x[m] != 0:
                for j in range(n):
                    r[j] -= gram[m, j] * x[m]
        for _ in range(sweeps):
            most = limit - limit
            for m in range(n):
                h = gram[m, m]
                if h <= 0 or (x[m] == 0 and abs(r[m]) <= limit):
                    continue
                aim = r[m] + h * x[m]
                new = (max(aim - limit, 0) + min(aim + limit, 0)) / h
                dx = new - x[m]
                if dx != 0:
                    x[m] = new
                    for j in range(n):
                        r[j] -= gram[m, j] * dx
                    most = max(most, abs(dx))
            if most <= tiny:
                break
