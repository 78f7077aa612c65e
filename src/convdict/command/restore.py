"""`convdict denoise` and `inpaint`: a file in, a better one out."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .display import share_done

if TYPE_CHECKING:
    from ..signals.files import Signal

PATH = click.Path(path_type=Path)


def _common(command: Any) -> Any:
    for option in (
        click.option("-o", "--out", type=PATH, help="Where to (default: beside IMAGE)."),
        click.option("-d", "--dictionary", type=PATH, help="A run, or a dictionary (default: "
                     "one for photographs that comes with convdict)."),
        click.option("-l", "--penalty", type=float, help="λ, instead of what noise calls for."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("image", type=PATH)
@_common
@click.option("--sigma", type=float, help="Standard deviation of the noise, in units of the "
              "image: 25, say, of 255 (default: estimated).")  # fmt: skip
@click.option("--impulse", is_flag=True, help="Salt and pepper: find those pixels and fill them.")
def denoise(
    image: Path,
    out: Path | None,
    dictionary: Path | None,
    penalty: float | None,
    sigma: float | None,
    impulse: bool,
) -> None:
    """Take the noise out of an image, or a signal.

    \b
    Examples:
      convdict denoise noisy.png -o clean.png
      convdict denoise noisy.png --sigma 25 -d my-run
      convdict denoise peppered.png --impulse
    """
    from ..restore.restored import denoise as restored

    signal = _read(image, dictionary)
    begun = perf_counter()
    with share_done("denoise") as callback:
        result = restored(
            signal.values,
            dictionary,
            sigma=sigma,
            impulse="detect" if impulse else None,
            penalty=penalty,
            channel_axis=-1 if signal.channels_last else None,
            callback=callback,
        )
    _write(image, out, "denoised", result, signal, perf_counter() - begun)


@click.command()
@click.argument("image", type=PATH)
@_common
@click.option("--mask", type=PATH, help="A picture: black is missing.")
@click.option("--key", help="The colour of what is missing: ff00ff, or 0 for grey images.")
@click.option("--sigma", type=float, default=0.0, help="Noise of what is there, if there is any.")
def inpaint(
    image: Path,
    out: Path | None,
    dictionary: Path | None,
    penalty: float | None,
    mask: Path | None,
    key: str | None,
    sigma: float,
) -> None:
    """Fill in what is missing from an image, or a signal.

    Missing is what a mask, or a colour, or NaN says.

    \b
    Examples:
      convdict inpaint scratched.png --mask scratches.png -o whole.png
      convdict inpaint scratched.png --key ff00ff
    """
    import numpy as np

    from ..restore.restored import inpaint as restored

    signal = _read(image, dictionary)
    values = signal.values
    axis = -1 if signal.channels_last else None
    seen = np.ones(values.shape[:-1] if signal.channels_last else values.shape, bool)
    if mask is not None:
        found = _read(mask, None)
        seen &= (found.values > 0).any(axis=-1) if found.channels_last else found.values > 0
    if key is not None:
        same = values == _colour(key, values)
        seen &= ~(same.all(axis=-1) if signal.channels_last else same)
    begun = perf_counter()
    told: dict[str, Any] = {"sigma": sigma, "penalty": penalty, "channel_axis": axis}
    with share_done("inpaint") as callback:
        result = restored(values, seen, dictionary, **told, callback=callback)
    _write(image, out, "inpainted", result, signal, perf_counter() - begun)


def _read(path: Path, dictionary: Path | None) -> Signal:
    from ..learning.dictionary import Dictionary
    from ..signals.files import n_axes_of, open_signals

    if not path.exists():
        raise InputError(f"there is no file {path}")
    n_axes = n_axes_of(path)
    if n_axes is None or dictionary is not None:
        n_axes = 2 if dictionary is None else Dictionary.load(dictionary).n_axes
    opened = open_signals(path, n_axes, None)
    if opened.count != 1:
        raise InputError(f"{path} holds {opened.count} signals: give files of one")
    return opened.read(0)


def _colour(key: str, values: Any) -> Any:
    """A number for grey images, six hexadecimal digits for colours."""
    import numpy as np

    try:
        if values.ndim == 2:
            return values.dtype.type(float(key))
        digits = key.removeprefix("#")
        if len(digits) != 6:
            raise ValueError
        return np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)], values.dtype)
    except ValueError:
        raise InputError(
            f"--key {key}: give six digits such as ff00ff for images in colour, or a number for "
            "grey ones"
        ) from None


def _write(
    image: Path, out: Path | None, what: str, result: Any, signal: Signal, seconds: float
) -> None:
    from ..signals.write import WRITABLE, write_signal

    suffix = image.suffix if image.suffix.lower() in WRITABLE else ".png"
    out = out or image.with_name(f"{image.stem}-{what}{suffix}")
    write_signal(out, result, channels_last=bool(signal.channels_last), rate=signal.rate)
    click.echo(f"written    {out}, in {seconds:.2f} s")
