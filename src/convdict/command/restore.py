"""`convdict denoise` and `inpaint`: a file in, a better one out."""

from __future__ import annotations

import json
from collections.abc import Callable
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
        click.option("--json", "as_json", is_flag=True, help="Print as JSON."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("image", type=PATH)
@_common
@click.option("--sigma", type=float, help="Standard deviation of the noise, in units of the "
              "image: 25, say, of 255 (default: estimated).")  # fmt: skip
@click.option("--impulse", is_flag=True, help="Salt and pepper: find those pixels and fill them.")
@click.option("--thorough/--fast", default=None, help="Code five times and take the mean, or once "
              "(default: by size).")  # fmt: skip
def denoise(
    image: Path,
    out: Path | None,
    dictionary: Path | None,
    penalty: float | None,
    as_json: bool,
    sigma: float | None,
    impulse: bool,
    thorough: bool | None,
) -> None:
    """Take the noise out of an image, or a signal.

    \b
    Examples:
      convdict denoise noisy.png -o clean.png
      convdict denoise noisy.png --sigma 25 -d my-run
      convdict denoise peppered.png --impulse
    """
    from ..restore.restored import denoise as restored

    signals = _read(image, dictionary)
    out = _place_for(image, out, "denoised")
    about = {"sigma": sigma}
    if sigma is None and not impulse and penalty is None:
        about["sigma"] = _noise(signals)
        click.echo(f"noise      σ ≈ {about['sigma']:.3g}, estimated", err=as_json)
    told: dict[str, Any] = {"sigma": sigma, "penalty": penalty, "thorough": thorough}
    told["impulse"] = "detect" if impulse else None

    def one(i: int, callback: Any) -> Any:
        values, axis, back = _as_the_dictionary(signals[i], dictionary)
        return back(restored(values, dictionary, **told, channel_axis=axis, callback=callback))

    _write(out, *_each("denoise", len(signals), one), signals[0], about if as_json else None)


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
    as_json: bool,
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

    signals = _read(image, dictionary)
    out = _place_for(image, out, "inpainted")
    masks = [None] if mask is None else _read(mask, None)
    if len(masks) not in (1, len(signals)):
        raise InputError(f"{mask} holds {len(masks)} masks for {len(signals)} images")
    seen = [_seen(s, masks[i % len(masks)], key) for i, s in enumerate(signals)]
    hidden = 1 - float(np.mean([part.mean() for part in seen]))
    if not hidden and not any(_has_nan(s.values) for s in signals):
        click.echo("nothing is missing: give a --mask, or the --key of what is", err=as_json)
    told: dict[str, Any] = {"sigma": sigma, "penalty": penalty}

    def one(i: int, callback: Any) -> Any:
        values, axis, back = _as_the_dictionary(signals[i], dictionary)
        told["channel_axis"] = axis
        return back(restored(values, seen[i], dictionary, **told, callback=callback))

    about = {"hidden": hidden} if as_json else None
    _write(out, *_each("inpaint", len(signals), one), signals[0], about)


def _seen(signal: Signal, mask: Signal | None, key: str | None) -> Any:
    """Where the image shows what it should, by a mask and by a colour."""
    import numpy as np

    from ..signals.steps import visible

    values = signal.values
    seen = np.ones(values.shape[:-1] if signal.channels_last else values.shape, bool)
    if mask is not None:
        bright = visible(mask.values)
        shown = np.asarray(bright.any(axis=-1) if mask.channels_last else bright)
        if shown.shape != seen.shape:
            raise InputError(
                f"the mask is of size {_size(shown)} but the image is of {_size(seen)}: give one "
                "value per pixel"
            )
        seen &= shown
    if key is not None:
        same = values == _colour(key, values)
        seen &= ~(same.all(axis=-1) if signal.channels_last else same)
    return seen


def _has_nan(values: Any) -> bool:
    return bool((values != values).any())


def _read(path: Path, dictionary: Path | None) -> list[Signal]:
    """All signals of a file: the pages of a stack are restored one by one."""
    from ..learning.dictionary import Dictionary
    from ..signals.files import n_axes_of, open_signals

    if not path.exists():
        raise InputError(f"there is no file {path}")
    n_axes = n_axes_of(path)
    if n_axes is None or dictionary is not None:
        n_axes = 2 if dictionary is None else Dictionary.load(dictionary).n_axes
    opened = open_signals(path, n_axes, None)
    signals = [opened.read(i) for i in range(opened.count)]
    if len({(s.values.shape, s.values.dtype.str) for s in signals}) > 1:
        raise InputError(f"{path} holds signals of several sizes or types: give files of one")
    for note in dict.fromkeys(s.note for s in signals if s.note):
        click.echo(f"{path.name} {note}", err=True)
    return signals


def _each(what: str, count: int, work: Callable[[int, Any], Any]) -> tuple[Any, float]:
    """The results for all signals, stacked if there are several, and the seconds they took."""
    import numpy as np

    begun = perf_counter()
    with share_done(what) as show:

        def callback(i: int) -> Any:
            return None if show is None else lambda share: show((i + share) / count)

        results = [work(i, callback(i)) for i in range(count)]
    return results[0] if count == 1 else np.stack(results), perf_counter() - begun


def _as_the_dictionary(signal: Signal, dictionary: Path | None) -> tuple[Any, int | None, Any]:
    """Values, where their channels are, and the way back: grey ones as colours of three alike."""
    import numpy as np

    from ..learning.dictionary import Dictionary

    axis = -1 if signal.channels_last else None
    if axis is None and dictionary is not None:
        d = Dictionary.load(dictionary)
        if d.channel_axis is not None and signal.values.ndim == d.n_axes:
            n = d.kernels.shape[1]
            return np.stack([signal.values] * n, axis=-1), -1, lambda result: result[..., 0]
    return signal.values, axis, lambda result: result


def _noise(signals: list[Signal]) -> float:
    """What is estimated for the usual channel."""
    import numpy as np

    from ..restore.noise import noise_level

    values = signals[0].values
    planes = np.moveaxis(values, -1, 0) if signals[0].channels_last else values[np.newaxis]
    return float(np.median([noise_level(np.asarray(plane)) for plane in planes]))


def _size(values: Any) -> str:
    return "×".join(map(str, values.shape))


def _colour(key: str, values: Any) -> Any:
    """A number for grey images, six hexadecimal digits for colours."""
    import numpy as np

    try:
        if values.ndim == 2:
            number = values.dtype.type(float(key))
            if number != float(key):
                raise ValueError
            return number
        digits = key.removeprefix("#")
        if len(digits) != 6:
            raise ValueError
        return np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)], values.dtype)
    except (ValueError, OverflowError):
        raise InputError(
            f"--key {key}: give six digits such as ff00ff for images in colour, or for grey ones "
            "a number that they can hold"
        ) from None


def _place_for(image: Path, out: Path | None, what: str) -> Path:
    """Where the result goes: never over the image itself."""
    from ..signals.write import WRITABLE

    suffix = image.suffix if image.suffix.lower() in WRITABLE else ".png"
    out = out or image.with_name(f"{image.stem}-{what}{suffix}")
    if out.exists() and out.samefile(image):
        raise InputError(f"{out} is the image itself: give another --out")
    return out


def _write(
    out: Path, result: Any, seconds: float, signal: Signal, about: dict[str, Any] | None
) -> None:
    from ..signals.write import write_signal

    write_signal(out, result, channels_last=bool(signal.channels_last), rate=signal.rate)
    if about is not None:
        click.echo(json.dumps({"out": str(out), "seconds": round(seconds, 3), **about}))
        return
    click.echo(f"written    {out}, in {seconds:.2f} s")
