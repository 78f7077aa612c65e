"""A run as one page that opens anywhere: its data in JSON, and a script that draws them."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coding.sparse_code import reconstruct, sparse_code
from ..errors import InputError
from ..learning.dictionary import Dictionary
from ..learning.learner import ConvDictLearner
from ..learning.storage import plain
from ..pictures import by_use, data_url, grey
from ..signals.folder import SignalFiles
from ..threads import get_num_threads
from ..version import __version__

Array = NDArray[Any]

POINTS = 1000  # of a curve
LOOKED_AT, SHOWN = 16, 2  # images that are coded for the page, and shown of best and worst
LARGEST = 512  # samples along an axis of those
COLUMNS = ("step", "time", "value", "density", "gap", "change", "n_iter")


def report(
    learner: ConvDictLearner,
    *,
    snapshots: Sequence[tuple[int, Array]] = (),
    images: SignalFiles | None = None,
    settings: dict[str, Any] | None = None,
    status: str = "",
) -> str:
    """The page of a run: snapshots are (step, kernels), images those that it learned from."""
    d = Dictionary.of(learner)
    order, dead = by_use(d.usage, len(d))
    usage = d.usage if d.usage is not None else np.zeros(len(d))
    last = learner.history_[-1]
    data = {
        "status": status,
        "steps": learner.n_steps_,
        "facts": _facts(learner),
        "snapshots": _pictures(d, order, [*snapshots, (int(last.step), d.kernels)]),
        "history": _columns(learner),
        "validation": learner.validation_,
        "usage": _plain(usage[order] / max(usage.sum(), 1e-12)),
        "dead": [bool(x) for x in dead[order]],
        "explained": [] if images is None else _explained(d, images),
        "settings": _rows(_parameters(learner) if settings is None else settings),
        "environment": _rows(_environment()),
    }
    text = json.dumps(data, allow_nan=False).replace("</", "<\\/")  # it sits inside a script
    page = (files(__package__) / "page.html").read_text(encoding="utf-8")
    return page.replace("{{data}}", text)


def _facts(learner: ConvDictLearner) -> list[tuple[str, str]]:
    history = learner.history_
    recent = max(1, len(history) // 10)
    return [
        ("steps", f"{learner.n_steps_:,}"),
        ("images", f"{learner.n_images_:,.6g}"),
        ("learning", f"{history[-1].time:,.3g} s"),
        ("value of recent samples", f"{history.value[-recent:].mean():.4g}"),
        ("density", f"{100 * history.density[-recent:].mean():.2g} %"),
        ("penalty λ", f"{learner.penalty_.mean():.3g}"),
    ]


def _pictures(
    d: Dictionary, order: Array, snapshots: Sequence[tuple[int, Array]]
) -> list[dict[str, Any]]:
    """All in the order of the last one, so that a kernel stays where it is."""
    found = {}
    for step, kernels in snapshots:
        then = Dictionary(kernels, d.penalty, channel_axis=d.channel_axis)
        found[step] = data_url(then.mosaic(order=order), least=560)
    return [{"step": step, "picture": found[step]} for step in sorted(found)]


def _columns(learner: ConvDictLearner) -> dict[str, list[float | None]]:
    """So many points that a curve looks like itself: means of as many steps each."""
    history = learner.history_
    parts = np.array_split(np.arange(len(history)), min(len(history), POINTS))
    columns = {}
    for name in COLUMNS:
        column = getattr(history, name)
        columns[name] = _plain(np.array([column[part].mean() for part in parts]))
    return columns


def _plain(column: Array) -> list[float | None]:
    """NaN is null in JSON."""
    return [float(f"{x:.6g}") if np.isfinite(x) else None for x in column]


def _explained(d: Dictionary, images: SignalFiles) -> list[dict[str, Any]]:
    """The images of which codes leave over most, and least, beside what they restore."""
    if d.n_axes != 2:
        return []
    looked_at = np.unique(np.linspace(0, len(images) - 1, LOOKED_AT).astype(int))
    found = []
    for index in looked_at:
        try:
            s, w = images.learnable(int(index))
        except InputError:  # left out while learning, too, which has said so
            continue
        found.append((*_left_over(d, s, w), images.name(int(index))))
    found.sort(key=lambda one: one[0])
    shown = min(SHOWN, len(found) // 2) or len(found)
    groups = {"Explained worst": found[::-1][:shown], "Explained best": found[:shown]}
    return [
        {
            "title": title,
            "images": [
                {
                    "caption": f"{Path(name).name}: {100 * share:.3g} % of its energy is left over",
                    "image": picture,
                    "restored": restored,
                }
                for share, picture, restored, name in group
            ],
        }
        for title, group in groups.items()
        if group
    ]


def _left_over(d: Dictionary, s: Array, w: Array | None) -> tuple[float, str, str]:
    """‖W(s − Dx)‖² / ‖Ws‖², and pictures of s and Dx."""
    at: list[slice] = [slice(0, LARGEST)] * s.ndim
    if d.channel_axis is not None:
        at[d.channel_axis] = slice(None)
    s = np.ascontiguousarray(s[tuple(at)])
    w = None if w is None else np.ascontiguousarray(w[tuple(at[: w.ndim])])
    codes = sparse_code(
        s,
        d.kernels,
        d.penalty,
        w,
        boundary="free",
        channel_axis=d.channel_axis,
        nonnegative=d.nonnegative,
        tol=1e-2,
    )
    restored = reconstruct(codes, d.kernels)
    seen = np.isfinite(s) if w is None else np.isfinite(s) & np.broadcast_to(w > 0, s.shape)
    energy = float(np.sum(s[seen] ** 2))
    share = float(np.sum((s - restored)[seen] ** 2)) / max(energy, 1e-12)
    spread = 3 * float(np.std(s[seen])) or 1.0
    planes = [np.where(seen, s, 0), restored]
    if d.channel_axis is not None:
        planes = [np.moveaxis(plane, d.channel_axis, -1) for plane in planes]
        planes = [plane if plane.shape[-1] == 3 else plane.mean(axis=-1) for plane in planes]
    image, again = (data_url(grey(plane, -spread, spread)) for plane in planes)
    return share, image, again


def _environment() -> dict[str, str]:
    names = ("numpy", "scipy", "numba")
    return {
        "convdict": __version__,
        **{name: version(name) for name in names},
        "Python": platform.python_version(),
        "system": platform.platform(),
        "threads": str(get_num_threads()),
    }


def _parameters(learner: ConvDictLearner) -> dict[str, Any]:
    told = learner.get_params().items()
    return {name: v if isinstance(v, np.ndarray) else plain(name, v) for name, v in told}


def _rows(about: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, value in about.items() if value is not None]


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return json.dumps(value) if isinstance(value, dict | list | tuple) else str(value)
