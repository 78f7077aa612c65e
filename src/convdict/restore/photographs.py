"""The dictionary that comes with convdict: 64 kernels of 12×12, learned from photographs.

    python -m convdict.restore.photographs OUT.npz

makes it anew, from photographs in scikit-image, which are in the public domain or
under CC0 (https://github.com/scikit-image/scikit-image/blob/main/skimage/data/README.txt).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learning.dictionary import Dictionary
from ..learning.learner import ConvDictLearner
from ..signals.steps import Lowpass, Scale, prepare

Array = NDArray[Any]

NAMES = ("astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "rocket")
STEPS = (Scale(), Lowpass())


@cache
def default_dictionary() -> Dictionary:
    """The dictionary that restoration uses where none is given."""
    with as_file(files(__package__) / "photographs.npz") as path:
        return Dictionary.load(path)


def photographs() -> list[Array]:
    """Grey, and once more at half the size."""
    from skimage import color, data, transform

    images = []
    for name in NAMES:
        image = getattr(data, name)()
        grey = color.rgb2gray(image) if image.ndim == 3 else image / 255
        images += [grey, transform.rescale(grey, 0.5, anti_aliasing=True)]
    return [prepare(image.astype(np.float32), STEPS).s for image in images]


def learned() -> Dictionary:
    learner = ConvDictLearner(64, (12, 12), 0.1, n_epochs=2, random_state=0, preprocess=STEPS)
    learner.fit(photographs())
    return Dictionary.of(
        learner,
        source="photographs of scikit-image (public domain, CC0): " + ", ".join(NAMES),
        command="python -m convdict.restore.photographs",
    )


if __name__ == "__main__":
    learned().save(sys.argv[1])
