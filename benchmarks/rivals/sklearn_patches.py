"""scikit-learn's MiniBatchDictionaryLearning: Mairal's online method, on patches.

Every image gives one mini-batch of patches drawn at random. A patch is written by itself, in
place, so kernels need not serve at every shift as they do in a convolution: the penalty per
coefficient is the same, the model is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ..dictionaries import normalised

Watch = Callable[[np.ndarray], bool]


def learn(
    images: Sequence[np.ndarray],
    d: np.ndarray,
    *,
    penalty: float,
    n_patches: int,
    passes: int = 1,
    seed: int = 0,
    watch: Watch | None = None,
) -> np.ndarray:
    """The atoms as kernels of unit norm; `watch(dictionary)` after every image."""
    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.exceptions import ConvergenceWarning

    learner = MiniBatchDictionaryLearning(
        n_components=len(d),
        alpha=penalty,
        fit_algorithm="cd",
        dict_init=d.reshape(len(d), -1).copy(),
        batch_size=n_patches,
        random_state=seed,
    )
    rng = np.random.default_rng(seed)
    warnings.filterwarnings("ignore", category=ConvergenceWarning)  # of a few patches in noise
    for s in [*images] * passes:
        learner.partial_fit(_patches(s, d.shape[1:], n_patches, rng))
        if watch is not None and watch(_kernels(learner.components_, d.shape)):
            break
    return _kernels(learner.components_, d.shape)


def _kernels(atoms: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return normalised(atoms.reshape(shape))


def _patches(
    s: np.ndarray, kernel: tuple[int, ...], n: int, rng: np.random.Generator
) -> np.ndarray:
    """(n, pixels) from anywhere, a row per patch."""
    windows = np.lib.stride_tricks.sliding_window_view(s, kernel)
    i, j = (rng.integers(extent, size=n) for extent in windows.shape[:2])
    return np.ascontiguousarray(windows[i, j].reshape(n, -1))
