"""convdict's restoration, called as a user calls it: its own dictionary, nothing tuned."""

from __future__ import annotations

import numpy as np

from ..datasets import channel_axis


def denoise(noisy: np.ndarray, sigma: float | None = None) -> np.ndarray:
    import convdict

    return convdict.denoise(noisy, sigma=sigma, channel_axis=channel_axis(noisy))


def inpaint(damaged: np.ndarray, seen: np.ndarray) -> np.ndarray:
    import convdict

    return convdict.inpaint(damaged, seen, channel_axis=channel_axis(damaged))
