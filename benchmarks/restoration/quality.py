"""How near a picture is to the truth."""

from __future__ import annotations

import numpy as np

from ..datasets import channel_axis
from .pictures import Case


def psnr(truth: np.ndarray, picture: np.ndarray) -> float:
    """−10 log₁₀ mean (picture − truth)², the peak being 1."""
    error = picture.astype(np.float64) - truth
    return float(-10.0 * np.log10(np.mean(error * error)))


def ssim(truth: np.ndarray, picture: np.ndarray) -> float:
    """Structural similarity in windows of 7×7, the mean over all of them and the channels."""
    from skimage.metrics import structural_similarity

    pair = truth.astype(np.float64), picture.astype(np.float64)
    return float(structural_similarity(*pair, data_range=1.0, channel_axis=channel_axis(truth)))


def marks(case: Case, picture: np.ndarray) -> dict:
    judged = case.finished(picture)
    return {"psnr": psnr(case.truth, judged), "ssim": ssim(case.truth, judged)}
