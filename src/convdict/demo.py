"""`python -m convdict.demo`: learn a dictionary, code a photograph with it, draw both."""

from __future__ import annotations

import argparse
import sys
from math import prod
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Codes, ConvDictLearner, lowpass_split, reconstruct, sparse_code

Array = NDArray[Any]

PHOTOGRAPHS = ("astronaut", "chelsea", "coffee", "rocket", "coins", "brick", "gravel")


def photographs() -> list[Array]:
    """What is to be learned from: grey photographs inside scikit-image, without brightness."""
    from skimage import color, data

    images = []
    for name in PHOTOGRAPHS:
        image = getattr(data, name)()
        image = color.rgb2gray(image) if image.ndim == 3 else image / 255
        images.append(lowpass_split(image.astype(np.float32))[1])
    return images


def mosaic(dictionary: Array, columns: int = 8) -> Array:
    """All kernels side by side, each stretched to its own range, NaN between them."""
    count, height, width = dictionary.shape
    rows = -(-count // columns)
    picture = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1), np.nan)
    for m, kernel in enumerate(dictionary):
        i, j = (m // columns) * (height + 1) + 1, (m % columns) * (width + 1) + 1
        picture[i : i + height, j : j + width] = kernel / max(np.abs(kernel).max(), 1e-12)
    return picture


def draw(path: Path, image: Array, low: Array, dictionary: Array, codes: Codes) -> None:
    """Image, reconstruction, what is missing from it, and the kernels, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    restored = low + reconstruct(codes, dictionary)
    noise = np.sqrt(np.mean((restored - image) ** 2))
    panels = [
        ("image", image, {"vmin": 0, "vmax": 1}),
        (
            f"low-pass + {codes.nnz:,} kernels · PSNR {-20 * np.log10(noise):.1f} dB",
            restored,
            {"vmin": 0, "vmax": 1},
        ),
        ("difference × 5", 0.5 + 5 * (image - restored), {"vmin": 0, "vmax": 1}),
        (f"the {len(dictionary)} kernels", mosaic(dictionary), {"vmin": -1, "vmax": 1}),
    ]
    figure, axes = plt.subplots(1, 4, figsize=(16, 4.4), layout="constrained")
    for axis, (title, picture, limits) in zip(axes, panels, strict=True):
        axis.imshow(picture, cmap="gray", interpolation="nearest", **limits)
        axis.set_title(title)
        axis.axis("off")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m convdict.demo", description=__doc__)
    parser.add_argument("--penalty", type=float, default=0.05, help="λ (default: %(default)s)")
    parser.add_argument("--tol", type=float, default=1e-3, help="gap to reach")
    parser.add_argument("--out", type=Path, default=Path("demo-output"), help="where to draw")
    options = parser.parse_args(arguments)
    try:
        from skimage import data
    except ImportError:
        print("The demo needs scikit-image and matplotlib: pip install 'convdict[demo]'")
        return 1

    learner = ConvDictLearner(64, (12, 12), options.penalty, n_epochs=2, random_state=0)
    print(f"learn      64 kernels of 12×12 from {len(PHOTOGRAPHS)} photographs, twice through")
    learner.fit(photographs(), callback=_learning)
    dictionary = learner.dictionary_
    print(f"           {learner.n_steps_} steps, {learner.history_[-1].time:.1f} s\n")

    image = data.camera().astype(np.float32) / 255
    low, high = lowpass_split(image)
    size = "×".join(map(str, image.shape))
    print(f"code       another photograph, {size}, λ = {options.penalty}")
    begun = perf_counter()
    codes = sparse_code(high, dictionary, options.penalty, tol=options.tol, callback=_coding)
    seconds = perf_counter() - begun
    print(f"\nobjective  {codes.objective:.4f}")
    print(f"gap        {codes.gap:.1e}   the optimum is at most this share lower: proved")
    print(f"density    {100 * codes.density:.2f} %   {codes.nnz:,} of {prod(codes.shape):,}")
    print(f"time       {seconds:.2f} s   {codes.n_iter} rounds")
    options.out.mkdir(parents=True, exist_ok=True)
    picture = options.out / "demo.png"
    draw(picture, image, low, dictionary, codes)
    print(f"picture    {picture}")
    return 0


def _learning(learner: ConvDictLearner) -> None:
    step, every = learner.n_steps_, 10
    if step % every == 0:
        recent = learner.history_.value[-every:].mean()
        _tell(f"step {step:4d}   mean value of the last {every} tiles {recent:8.3f}")


def _coding(record: Any) -> None:
    line = f"round {record.iteration:3d}   objective {record.objective:10.4f}"
    _tell(f"{line}   gap {record.gap:.1e}   nonzeros {record.nnz:,}   {record.seconds:.2f} s")


def _tell(line: str) -> None:
    print(f"           {line}", end="\r" if sys.stdout.isatty() else "\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
