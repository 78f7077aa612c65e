"""scikit-image's ways to restore: total variation, wavelets, non-local means, biharmonics."""

from __future__ import annotations

import numpy as np

from ..datasets import channel_axis


def total_variation(noisy: np.ndarray, weight: float) -> np.ndarray:
    """Chambolle's, in every channel by itself."""
    from skimage.restoration import denoise_tv_chambolle

    return denoise_tv_chambolle(noisy, weight=weight, channel_axis=channel_axis(noisy))


def wavelets(noisy: np.ndarray, sigma: float, wavelet: str) -> np.ndarray:
    """BayesShrink; colours as brightness and two differences, which scikit-image recommends."""
    from skimage.restoration import denoise_wavelet

    return denoise_wavelet(
        noisy,
        sigma=sigma,
        wavelet=wavelet,
        method="BayesShrink",
        convert2ycbcr=noisy.ndim == 3,
        channel_axis=channel_axis(noisy),
    )


def nonlocal_means(noisy: np.ndarray, sigma: float) -> np.ndarray:
    """Slow and exact, with the patches and the h that scikit-image's gallery takes."""
    from skimage.restoration import denoise_nl_means

    return denoise_nl_means(
        noisy,
        patch_size=5,
        patch_distance=6,
        h=0.8 * sigma,
        sigma=sigma,
        fast_mode=False,
        channel_axis=channel_axis(noisy),
    )


def biharmonic(damaged: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """∆²u = 0 in the holes, every channel by itself; in float64, for it is ill-conditioned."""
    from skimage.restoration import inpaint_biharmonic

    if damaged.ndim == 3:
        channels = range(damaged.shape[-1])
        return np.stack([biharmonic(damaged[..., c], seen[..., c]) for c in channels], axis=-1)
    return inpaint_biharmonic(damaged.astype(np.float64), ~seen, split_into_regions=True)
