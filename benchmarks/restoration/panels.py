"""Small pictures inside a result, so that figures can be drawn from it alone."""

from __future__ import annotations

from base64 import b64decode, b64encode
from io import BytesIO

import numpy as np
from PIL import Image

from ..datasets import central

KEYS = ("truth", "given", "sporco", "ours")  # from left to right


def details(pictures: dict[str, np.ndarray], side: int) -> dict[str, str]:
    """The middle of those that are shown."""
    found = {key: pictures[key] for key in KEYS if key in pictures}
    side = min(side, *pictures["truth"].shape[:2])
    return {key: encode(central(picture, side)) for key, picture in found.items()}


def encode(picture: np.ndarray) -> str:
    """[0, 1] as the text of a PNG."""
    pixels = np.rint(255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "png", optimize=True)
    return b64encode(file.getvalue()).decode("ascii")


def decode(text: str) -> np.ndarray:
    """Bytes again."""
    return np.asarray(Image.open(BytesIO(b64decode(text))))
