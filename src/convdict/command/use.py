"""`convdict show`, `evaluate`, `encode` and `decode`: what a dictionary is good for."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InputError

if TYPE_CHECKING:
    from ..learning.dictionary import Dictionary

PATH = click.Path(path_type=Path)


@click.command()
@click.argument("dictionary", type=PATH)
@click.option("-o", "--out", type=PATH, help="Draw the kernels into this picture.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(dictionary: Path, out: Path | None, as_json: bool) -> None:
    """Say what a dictionary is, and draw it.

    DICTIONARY is a run's folder, a dictionary, a checkpoint, or kernels in a .npy file.

    \b
    Examples:
      convdict show my-run
      convdict show my-run -o kernels.png
    """
    from ..signals.steps import written

    d = _load(dictionary)
    told = {
        "kernels": len(d),
        "size": list(d.kernel),
        "channels": None if d.channel_axis is None else d.kernels.shape[1],
        "penalty": float(d.penalty.mean()),
        "boundary": d.boundary,
        "prepared": written(d.steps),
        **d.about,
    }
    if as_json:
        click.echo(json.dumps(told))
    else:
        told["size"] = "×".join(map(str, d.kernel))
        told["prepared"] = ", ".join(step.name for step in d.steps) or "as it is"
        for name, value in told.items():
            if value is not None:
                click.echo(f"{name:<10} {f'{value:.4g}' if isinstance(value, float) else value}")
    if out is not None:
        from ..report.plots import plot_dictionary, saved

        saved(plot_dictionary(d), out)
        click.echo(f"drawn as   {out}", err=as_json)


@click.command()
@click.argument("dictionary", type=PATH)
@click.argument("images", nargs=-1, required=True)
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Certified gap.")
@click.option("-l", "--penalty", type=float, help="Another λ than the dictionary's.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def evaluate(
    dictionary: Path, images: tuple[str, ...], tol: float, penalty: float | None, as_json: bool
) -> None:
    """How well a dictionary describes images: the mean functional value, lower is better.

    \b
    Examples:
      convdict evaluate my-run other-photos/
    """
    from ..learning.evaluate import evaluate as evaluated
    from ..signals.folder import SignalFiles

    d = _load(dictionary)
    files = SignalFiles(list(images), n_axes=d.n_axes, channel_axis=d.channel_axis, steps=d.steps)
    found = evaluated(
        d.kernels,
        files,
        d.penalty if penalty is None else penalty,
        tol=tol,
        boundary=d.boundary,
        channel_axis=d.channel_axis,
        nonnegative=d.nonnegative,
    )
    told = {
        "value": found.value,
        "gap": found.gap,
        "density": found.density,
        "images": len(found.values),
        "left_out": files.bad,
    }
    if as_json:
        click.echo(json.dumps(told))
        return
    click.echo(f"value      {found.value:.6g}   the mean of {len(found.values)} images")
    click.echo(f"gap        {found.gap:.1e}   the optimum is at most this share lower")
    click.echo(f"density    {100 * found.density:.3g} %")


@click.command()
@click.argument("dictionary", type=PATH)
@click.argument("image", type=PATH)
@click.option("-o", "--out", type=PATH, help="Where to (default: IMAGE.codes).")
@click.option("-l", "--penalty", type=float, help="Another λ than the dictionary's.")
@click.option("--tol", type=float, default=1e-2, show_default=True, help="Certified gap.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def encode(
    dictionary: Path,
    image: Path,
    out: Path | None,
    penalty: float | None,
    tol: float,
    as_json: bool,
) -> None:
    """Write an image, or a signal, as few numbers; decode brings it back.

    \b
    Examples:
      convdict encode my-run photo.png -o photo.codes
      convdict decode my-run photo.codes -o again.png
    """
    from ..restore.compact import Encoded
    from ..signals.folder import SignalFiles

    d = _load(dictionary)
    files = SignalFiles([image], n_axes=d.n_axes, channel_axis=d.channel_axis, steps=d.steps)
    if len(files) != 1:
        raise InputError(f"{image} holds {len(files)} signals: give files of one")
    encoded = Encoded.of(
        *(files.stored(0), files.prepared(0), d), penalty=penalty, tol=tol, rate=files.rate(0)
    )
    out = out or image.with_suffix(".codes")
    encoded.save(out)
    told = {
        "out": str(out),
        "bytes": out.stat().st_size,
        "bits_per_pixel": 8 * out.stat().st_size / encoded.n_samples,
        "psnr": encoded.psnr if isfinite(encoded.psnr) else None,
        "nnz": encoded.nnz,
    }
    if as_json:
        click.echo(json.dumps(told))
        return
    click.echo(f"written    {out}, {told['bytes']:,} bytes")
    click.echo(f"rate       {told['bits_per_pixel']:.3g} bits per pixel")
    click.echo(f"PSNR       {encoded.psnr:.2f} dB, from {encoded.nnz:,} coefficients")


@click.command()
@click.argument("dictionary", type=PATH)
@click.argument("codes", type=PATH)
@click.option("-o", "--out", type=PATH, help="Where to (default: beside CODES).")
def decode(dictionary: Path, codes: Path, out: Path | None) -> None:
    """Bring back what encode has written.

    \b
    Examples:
      convdict decode my-run photo.codes -o again.png
    """
    from ..restore.compact import Encoded
    from ..signals.write import write_signal

    d = _load(dictionary)
    encoded = Encoded.load(codes)
    image = encoded.image(d)
    suffix = {1: ".wav" if encoded.rate else ".csv", 2: ".png"}.get(d.n_axes, ".npy")
    out = out or codes.with_name(f"{codes.stem}-decoded{suffix}")
    write_signal(out, image, channels_last=d.channel_axis is not None, rate=encoded.rate)
    click.echo(f"written    {out}, {'×'.join(map(str, image.shape))}")


def _load(path: Path) -> Dictionary:
    from ..learning.dictionary import Dictionary

    return Dictionary.load(path)
