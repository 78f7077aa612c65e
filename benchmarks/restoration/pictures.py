"""Pictures that come with SPORCO, as its examples prepare and then spoil them.

Values go from 0 to 1, by a little more where the picture is zoomed. Noise and holes are those of
`numpy.random.seed(12345)`, with which the examples start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..datasets import central

MONARCH = {"fname": "monarch.png", "zoom": 0.5, "idxexp": np.s_[:, 160:672]}
PICTURES: dict[str, dict[str, Any]] = {
    "monarch": MONARCH,
    "monarch, grey": MONARCH | {"gray": True},
    "barbara": {"fname": "barbara.png", "gray": True},
    "kodim23": {"fname": "kodim23.png", "gray": True},
}
SHOWN = "monarch"  # in the figures
SEED = 12345


@dataclass(frozen=True, eq=False)
class Case:
    """A picture, and what is left of it: with noise, or with holes."""

    name: str
    truth: np.ndarray  # (rows, columns), with channels (rows, columns, channels)
    given: np.ndarray  # zero where it is not seen
    seen: np.ndarray | None = None  # one value per sample
    sigma: float = 0.0
    hidden: float = 0.0  # the share of samples

    def middle(self, side: int) -> Case:
        """A piece of it, no larger than `side` × `side`."""
        side = min(side, *self.truth.shape[:2])
        pieces = (
            None if array is None else np.ascontiguousarray(central(array, side))
            for array in (self.truth, self.given, self.seen)
        )
        return Case(self.name, *pieces, self.sigma, self.hidden)

    def finished(self, picture: np.ndarray) -> np.ndarray:
        """What is judged. SPORCO's example clips what it has denoised, so everybody's is."""
        return np.clip(picture, 0.0, 1.0) if self.seen is None else picture

    def as_json(self) -> dict:
        return {
            "name": self.name,
            "sigma": self.sigma,
            "hidden": self.hidden,
            "shape": list(self.truth.shape),
            "range": float(self.truth.max() - self.truth.min()),
        }


def load(name: str, side: int | None = None) -> np.ndarray:
    """The truth in float32, or a piece from its middle where it is larger."""
    from sporco.util import ExampleImages

    whole = ExampleImages().image(scaled=True, **PICTURES[name])
    if side is None or side >= max(whole.shape[:2]):
        return whole
    return np.ascontiguousarray(central(whole, min(side, *whole.shape[:2])))


def with_noise(name: str, truth: np.ndarray, sigma: float) -> Case:
    draws = np.random.RandomState(SEED).normal(0.0, sigma, truth.shape)
    return Case(name, truth, truth + draws.astype(np.float32), sigma=sigma)


def with_holes(name: str, truth: np.ndarray, hidden: float) -> Case:
    """Every sample is hidden or not by itself: of a pixel, one channel may be seen alone."""
    draws = np.random.RandomState(SEED).uniform(-1.0, 1.0, truth.shape)
    seen = np.abs(draws.astype(np.float32)) > hidden
    return Case(name, truth, np.where(seen, truth, np.float32(0.0)), seen, hidden=hidden)
