"""`convdict demo`: photographs in, a dictionary, a restored image and a report out."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from ..errors import ConvdictError

NAMES = ("astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "rocket")
SIGMA, HIDDEN = 0.1, 0.5


@click.command()
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("demo-output"),
              show_default=True, help="Where to write; what is there is replaced.")  # fmt: skip
@click.option("-e", "--epochs", type=int, default=2, show_default=True, help="Passes.")
@click.option("-n", "--kernels", type=int, default=64, show_default=True, help="Kernels.")
def demo(out: Path, epochs: int, kernels: int) -> int:
    """Learn from photographs that scikit-image brings, restore one, and write a report."""
    try:
        from skimage import data, io
    except ImportError as error:
        raise ConvdictError("the demo needs: pip install 'convdict[demo]'") from error
    from .learn import learn

    photos, run = out / "photos", out / "run"
    for folder in (photos, run):
        shutil.rmtree(folder, ignore_errors=True)
    photos.mkdir(parents=True)
    for name in NAMES:
        io.imsave(photos / f"{name}.png", getattr(data, name)(), check_contrast=False)
    click.echo(f"$ convdict learn {photos} -n {kernels} -e {epochs} --seed 0 -o {run}")
    words = [str(photos), "-n", str(kernels), "-e", str(epochs), "--seed", "0", "-o", str(run)]
    code = learn.main(words, standalone_mode=False)
    if code:
        return int(code)
    click.echo("\nAnother photograph, coded, then restored, with that dictionary:\n")
    _restore(data.stereo_motorcycle()[0], run, out)
    click.echo(f"\npictures   {out / 'demo.png'}")
    click.echo(f"report     {run / 'report.html'}")
    return 0


def _restore(photo: Any, run: Path, out: Path) -> None:
    import numpy as np

    from ..coding.sparse_code import reconstruct, sparse_code
    from ..learning.dictionary import Dictionary
    from ..restore.restored import denoise, inpaint
    from ..signals.steps import prepare

    d = Dictionary.load(run)
    grey = photo if photo.ndim == 2 else photo.mean(axis=2)
    truth = _square(grey).astype(np.float32) / 255
    rng = np.random.default_rng(0)
    begun = perf_counter()
    ready = prepare(truth, d.steps)
    codes = sparse_code(ready.s, d.kernels, d.penalty, tol=1e-3)
    _tell("coded", truth, ready.undo(reconstruct(codes, d.kernels)), perf_counter() - begun)
    click.echo(f"           {codes.nnz:,} coefficients, density {100 * codes.density:.2f} %")
    click.echo(f"           objective {codes.objective:.4f}, gap {codes.gap:.1e}: proved")

    noisy = (truth + SIGMA * rng.standard_normal(truth.shape)).astype(np.float32)
    begun = perf_counter()
    clean = denoise(noisy, d)
    _tell("denoised", truth, clean, perf_counter() - begun, before=noisy)

    seen = rng.random(truth.shape) >= HIDDEN
    begun = perf_counter()
    whole = inpaint(truth, seen, d)
    holes = np.where(seen, truth, 0)
    _tell("inpainted", truth, whole, perf_counter() - begun, before=holes)
    _draw(out / "demo.png", d, truth, noisy, clean, holes, whole)


def _square(image: Any, side: int = 384) -> Any:
    top, left = ((n - side) // 2 for n in image.shape)
    return image[max(top, 0) :, max(left, 0) :][:side, :side]


def _tell(what: str, truth: Any, image: Any, seconds: float, *, before: Any = None) -> None:
    came = "" if before is None else f"{_psnr(before, truth):.1f} → "
    click.echo(f"{what:<10} PSNR {came}{_psnr(image, truth):.1f} dB in {seconds:.2f} s")


def _psnr(image: Any, truth: Any) -> float:
    import numpy as np

    return float(-10 * np.log10(np.mean((image - truth) ** 2)))


def _draw(path: Path, d: Any, truth: Any, noisy: Any, clean: Any, holes: Any, whole: Any) -> None:
    import matplotlib.pyplot as plt

    from ..report.plots import plot_dictionary

    panels = [
        (f"σ = {SIGMA} · {_psnr(noisy, truth):.1f} dB", noisy),
        (f"denoised · {_psnr(clean, truth):.1f} dB", clean),
        (f"{100 * HIDDEN:g} % missing · {_psnr(holes, truth):.1f} dB", holes),
        (f"inpainted · {_psnr(whole, truth):.1f} dB", whole),
    ]
    figure, axes = plt.subplots(1, 5, figsize=(20, 4.4), layout="constrained")
    plot_dictionary(d, ax=axes[0])
    for axis, (title, picture) in zip(axes[1:], panels, strict=True):
        axis.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(title)
        axis.axis("off")
    figure.savefig(path, dpi=80)
    plt.close(figure)
