"""SPORCO restoring images as its own published examples do, in float32.

`denoise` is csc/gwnden_clr.py and csc/gwnden_gry.py: the smooth part is taken out by a Tikhonov
filter, and the rest coded with penalties that are small where it looks like a kernel,

    ½‖Σ_m d_m * x_m − s‖² + λ Σ_m ‖x_m / |d_m ⋆ s|^p‖₁ + μ‖x‖₂,₁

with p = 1 and a norm that joins the channels in colour, with p = 2 and μ = 0 in grey. `inpaint`
is csc/cbpdn_ams_clr.py and csc/cbpdn_ams_gry.py: total variation gives the smooth part, additive
mask simulation the codes of the rest. All numbers are those of the examples in SPORCO 0.2.2.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..environment import cores_at_hand

MADE_FOR = 0.1  # σ of the examples that take noise out
SHARE = 0.5  # hidden in the examples that fill holes
MARGIN = 8  # pixels around the image, mirrored

# dB that the examples' pages in SPORCO's documentation show, by `sporco.metric.psnr`, whose peak
# is the range of the truth and not 1
PUBLISHED_NOISE_OUT = {"monarch": 28.15, "monarch, grey": 26.08}
PUBLISHED_FILLED = {"monarch": 29.37, "monarch, grey": 24.56}


def denoise(noisy: np.ndarray, sigma: float, n_iter: int | None = None) -> np.ndarray:
    """The example; where σ is not its own, on the image scaled until it is."""
    scale = MADE_FOR / sigma
    return np.clip(_example(noisy * np.float32(scale), n_iter) / np.float32(scale), 0.0, 1.0)


def _example(noisy: np.ndarray, n_iter: int | None) -> np.ndarray:
    from sporco.admm import cbpdn
    from sporco.signal import tikhonov_filter

    _use_cores()
    low, high = tikhonov_filter(noisy, 5.0, 16)
    _, around = tikhonov_filter(_padded(noisy, "symmetric"), 5.0, 16)
    d = _dictionary("G:8x8x128")
    options = {"Verbose": False, "MaxMainIter": n_iter or 250, "HighMemSolve": True}
    options |= {"RelStopTol": 3e-3, "AuxVarObj": False, "AutoRho": {"Enabled": False}}
    s = _padded(high, "symmetric")
    if noisy.ndim == 3:
        lmbda, mu = 1.5e-2, 2.7e-1
        options |= {"rho": 1e3 * lmbda, "L1Weight": 1.0 / _likeness(d, around)}
        chosen = cbpdn.ConvBPDNJoint.Options(options)
        solver = cbpdn.ConvBPDNJoint(d, s, lmbda, mu, chosen, dimK=0)
    else:
        lmbda = 4.8e-2
        options |= {"rho": 4e2 * lmbda, "L1Weight": 1.0 / _likeness(d, around, power=2)}
        solver = cbpdn.ConvBPDN(d, s, lmbda, cbpdn.ConvBPDN.Options(options), dimK=0)
    solver.solve()
    return _cropped(solver.reconstruct().squeeze()) + low


def _likeness(d: np.ndarray, s: np.ndarray, power: int = 1) -> np.ndarray:
    """|d_m ⋆ s|^p, not quite zero: (rows, columns, kernels), with channels before the kernels."""
    from sporco import fft

    shape = s.shape[:2]
    kernels = d[:, :, np.newaxis] if s.ndim == 3 else d
    d_hat = fft.rfftn(kernels, shape, (0, 1))
    s_hat = fft.rfftn(s[..., np.newaxis], None, (0, 1))
    found = fft.irfftn(np.conj(d_hat) * s_hat, shape, (0, 1))
    return np.maximum(np.abs(found) ** power, 1e-8)


def inpaint(damaged: np.ndarray, seen: np.ndarray, n_iter: int | None = None) -> np.ndarray:
    """Zero where `seen` is False, and what the codes explain everywhere: also where it is True."""
    from sporco.admm import cbpdn

    _use_cores()
    colour = damaged.ndim == 3
    mask = _padded(seen.astype(np.float32), "constant")
    around = _padded(damaged, "symmetric")
    low = _smooth(around, mask, n_iter)
    d = _dictionary("RGB:8x8x3x64" if colour else "G:8x8x128")
    lmbda = 2e-2
    options = {"Verbose": False, "MaxMainIter": n_iter or 200, "HighMemSolve": True}
    options |= {"RelStopTol": 5e-3, "AuxVarObj": False, "RelaxParam": 1.8}
    options |= {"rho": 5e1 * lmbda + 1e-1, "AutoRho": {"Enabled": False, "StdResiduals": False}}
    chosen = cbpdn.ConvBPDN.Options(options)
    high = mask * (around - low)
    solver = cbpdn.AddMaskSim(cbpdn.ConvBPDN, d, high, mask, lmbda, opt=chosen)
    solver.solve()
    return _cropped(low + solver.reconstruct().squeeze())


def _smooth(s: np.ndarray, mask: np.ndarray, n_iter: int | None) -> np.ndarray:
    """ℓ₂-TV over what is seen, over all channels together."""
    from sporco.admm import tvl2

    options = {"Verbose": False, "MaxMainIter": n_iter or 200, "DFidWeight": mask}
    options |= {"gEvalY": False, "AutoRho": {"Enabled": True}}
    chosen = tvl2.TVL2Denoise.Options(options)
    return tvl2.TVL2Denoise(s, 0.05, chosen, caxis=2 if s.ndim == 3 else None).solve()


def _padded(image: np.ndarray, mode: Any) -> np.ndarray:
    margins = ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0))
    return np.pad(image, margins[: image.ndim], mode=mode)


def _cropped(image: np.ndarray) -> np.ndarray:
    return image[MARGIN:-MARGIN, MARGIN:-MARGIN]


@cache
def _dictionary(name: str) -> np.ndarray:
    """As SPORCO has it: (rows, columns, kernels), with channels before the kernels."""
    from sporco.util import convdicts

    return np.asarray(convdicts()[name], np.float32)


def _use_cores() -> None:
    import sporco.fft

    sporco.fft.pyfftw_threads = cores_at_hand()  # its own count: the whole machine's
