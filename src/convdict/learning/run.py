"""A run of learning: its state, and the one step that changes it."""

from __future__ import annotations

from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.arrays import check_size, penalty_array
from ..model.pose import Frame, on_grid
from ..model.problem import Array, Problem, Triplets
from ..model.residual import weighted_residual
from ..model.scan import Scan
from ..threads import undisturbed
from .coded import Coded, code_all
from .health import Watch, worst_explained
from .history import History, Record
from .second_order import Kept, SecondOrder
from .settings import Settings
from .sgd import Sgd
from .signals import Key, Piece
from .update import Update

AUTO_SHARE = 0.1  # penalty="auto": of what codes a signal to zero, the mean over some signals
LARGEST = 1e30  # energy of a signal: all that is computed from less fits float32
LEAST_ROOTS = 1e4  # λ must be so many times the root of the smallest number
MOST_REPAIRS = 2  # kernels that are seeded anew in one step


class Run:
    """Dictionary, algorithm, kept codes and history; a step leads from one state to the next."""

    def __init__(self, settings: Settings, *, d: Array, seed: int) -> None:
        self.settings, self.seed = settings, seed
        self.d = d  # (M, C, *kernel)
        self.lmbda: Array | None = None  # once the penalty is known
        self.algorithm = self._algorithm(d.shape)
        self.kept: dict[Key, Kept] = {}
        self.kept_bytes = 0
        self.history = History()
        self.watch = Watch(len(d))
        self.seconds = 0.0
        self.n_images = 0  # that have a number: the next one's
        self.images = 0.0  # learned from, parts of them counted as such
        self.place = 0, 0  # where fit is: the pass, and pieces learned in it

    def _algorithm(self, shape: tuple[int, ...]) -> Sgd | SecondOrder:
        s = self.settings
        if s.method == "sgd":
            return Sgd(domain=s.domain, step_size=s.step_size, constraint=s.constraint)
        return SecondOrder(
            shape=shape,
            dtype=s.dtype,
            domain=s.domain,
            forgetting=s.forgetting,
            tolerance=s.tolerance,
            constraint=s.constraint,
            lookahead=0.0 if s.replace else s.lookahead,  # nothing stale is left to make up for
            rule=s.rule,
        )

    def choose_penalty(self, signals: list[Piece]) -> None:
        """Before the first step: λ as it was told, or by what some of the signals look like."""
        some = [piece for piece in signals if len(piece.s) == self.d.shape[1]]
        self.lmbda = self._penalty([self.problem(piece, self.d) for piece in some])

    def step(self, batch: list[Piece], *, keep: bool, advance: int) -> None:
        """Code a batch, learn from it, look after the kernels and write it all down.

        Until all is coded nothing changes; from then on nothing interrupts.
        """
        begun = perf_counter()
        for piece in batch:
            if not np.sum(np.square(piece.s, dtype=np.float64)) < LARGEST:
                raise InputError(
                    f"image {piece.key[0]}: it holds values whose squares add up to more than "
                    f"{LARGEST:.0e}: choose units in which they are moderate"
                )
        d = self.algorithm.coding_dictionary(self.d)
        problems = [self.problem(piece, d) for piece in batch]
        before = [self._before(*pair) for pair in zip(batch, problems, strict=True)]
        start = [None if old is None else old.terms.codes for old in before]
        coded = code_all(self.settings.solver, problems, start, self.settings.coding_tol)
        coding = perf_counter() - begun
        undisturbed(lambda: self._take_in(batch, coded, before, coding, keep=keep, advance=advance))

    def _take_in(
        self,
        batch: list[Piece],
        coded: list[Coded],
        before: list[Kept | None],
        coding: float,
        *,
        keep: bool,
        advance: int,
    ) -> None:
        begun = perf_counter() - coding
        update = self._learn(coded, before, batch if keep else [])
        old, self.d = self.d, update.d
        health = self.watch.look(coded, old, self.d, len(self.history) + 1)
        repaired = self._repair(coded, [*health.unused, *health.duplicates])
        self.n_images = max(self.n_images, *(piece.key[0] + 1 for piece in batch))
        self.images += sum(piece.share for piece in batch)
        self.place = self.place[0], self.place[1] + advance
        self.seconds += perf_counter() - begun
        self.history.append(
            Record(
                step=len(self.history) + 1,
                time=self.seconds,
                value=float(np.mean([c.objective for c in coded])),
                gap=max(c.gap for c in coded),
                density=sum(len(c.codes.value) for c in coded)
                / sum(c.problem.n_coefficients for c in coded),
                n_iter=update.n_iter,
                residual=update.residual,
                change=float(np.linalg.norm(update.d - old)),
                forgetting=update.forgetting,
                surrogate=update.surrogate,
                unused=len(health.unused),
                duplicates=len(health.duplicates),
                restless=len(health.restless),
                repaired=repaired,
            )
        )

    def problem(self, piece: Piece, d: Array) -> Problem:
        """The coding problem of a signal."""
        s = self.settings
        into = Frame(piece.s.shape, 0, s.boundary)
        lmbda = np.ones(s.n_kernels, s.dtype) if self.lmbda is None else self.lmbda
        return on_grid(piece.s, piece.w, d=d, lmbda=lmbda, into=into, nonnegative=s.nonnegative)

    def _penalty(self, problems: list[Problem]) -> Array:
        s = self.settings
        if not (isinstance(s.penalty, str) and s.penalty == "auto"):
            lmbda = penalty_array(s.penalty, s.n_kernels)
            check_size(lmbda, "penalty")
            _check_statistics(lmbda, s.dtype)
            return lmbda.astype(s.dtype)
        largest = [
            float(Scan(p)(weighted_residual(p, Triplets.empty(p.dtype)))[0].max()) for p in problems
        ]
        level = AUTO_SHARE * float(np.mean(largest))
        if level <= 0:
            raise InputError(
                "penalty='auto' looks at the first signals, and they are zero: give a number"
            )
        lmbda = np.full(s.n_kernels, level)
        _check_statistics(lmbda, s.dtype)
        return lmbda.astype(s.dtype)

    def _before(self, piece: Piece, problem: Problem) -> Kept | None:
        """What is known of a signal, if it is the one that was here before."""
        old = self.kept.get(piece.key)
        if old is None or old.fingerprint != piece.fingerprint:
            return None
        return old if old.terms.codes.position.max(initial=0) < prod(problem.grid) else None

    def _learn(self, coded: list[Coded], before: list[Kept | None], keep: list[Piece]) -> Update:
        if isinstance(self.algorithm, Sgd):
            update = self.algorithm.update(self.d, coded)
            kept = [Kept.codes_only(c.codes) for c in coded]
        else:
            fades = not self.settings.replace
            stale = [None if fades else old for old in before]
            update, kept = self.algorithm.update(self.d, coded, stale)
            if fades:  # nothing is ever taken back: codes to start from are all that is needed
                kept = [Kept.codes_only(c.codes) for c in coded]
        for piece, new in zip(keep, kept, strict=False):
            self._keep(piece.key, new._replace(fingerprint=piece.fingerprint))
        return update

    def _keep(self, key: Key, new: Kept) -> None:
        """Remember a signal's codes for its next visit, while there is room."""
        old = self.kept.pop(key, None)
        self.kept_bytes -= 0 if old is None else old.nbytes
        if self.kept_bytes + new.nbytes <= self.settings.codes_memory:
            self.kept[key] = new
            self.kept_bytes += new.nbytes

    def _repair(self, coded: list[Coded], kernels: list[int]) -> int:
        """Seed kernels that are of no use from the patches that are explained worst."""
        if not self.settings.repair or not kernels:
            return 0
        chosen = kernels[:MOST_REPAIRS]
        patches = worst_explained(coded, self.d, len(chosen))
        d = self.d.copy()
        for m, patch in zip(chosen, patches, strict=False):
            d[m] = patch
            self.watch.repaired(m)
            self.kept = {key: kept.without(m) for key, kept in self.kept.items()}
        self.d = self.settings.constraint(d)
        for m in chosen:
            self.algorithm.forget(m, self.d)
        return min(len(chosen), len(patches))

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Everything that the next step depends on: plain values, and arrays."""
        about = {
            "seed": self.seed,
            "seconds": self.seconds,
            "n_images": self.n_images,
            "images": self.images,
            "epoch": self.place[0],
            "consumed": self.place[1],
            "columns": Record._fields,
        }
        arrays = {"d": self.d, "usage": self.watch.usage, "history": self.history.table()}
        arrays["duplicates"] = self.watch.duplicates
        if self.lmbda is not None:
            arrays["lmbda"] = self.lmbda
        arrays |= {f"algorithm_{name}": a for name, a in self.algorithm.state().items()}
        return about, arrays | _packed(self.kept)

    def restore(self, about: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Become what `state` described."""
        self.seconds = float(about["seconds"])
        self.n_images, self.images = int(about["n_images"]), float(about["images"])
        self.place = int(about["epoch"]), int(about["consumed"])
        self.d = arrays["d"]
        self.lmbda = arrays.get("lmbda")
        self.watch.usage, self.watch.duplicates = arrays["usage"], arrays["duplicates"]
        self.history = History.of(arrays["history"], about["columns"])
        prefix = "algorithm_"
        self.algorithm.restore(
            {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        )
        self.kept = _unpacked(arrays)
        self.kept_bytes = sum(kept.nbytes for kept in self.kept.values())


def _check_statistics(lmbda: Array, dtype: np.dtype[Any]) -> None:
    """Coefficients are of the size of λ, and sums of their squares must not vanish."""
    least = LEAST_ROOTS * float(np.finfo(dtype).tiny) ** 0.5
    if lmbda.min() < least:
        raise InputError(
            f"the penalty is {lmbda.min():.1e}, and so signals are tiny: choose units in which "
            f"they are moderate, so that it is above {least:.0e}"
        )


def _packed(kept: dict[Key, Kept]) -> dict[str, Array]:
    """All kept codes, end to end."""
    if not kept:
        return {}
    codes = [k.terms.codes for k in kept.values()]
    numbers = [[k.terms.constant, k.terms.curvature, k.seen] for k in kept.values()]
    return {
        "kept_key": np.array(list(kept), np.int64),
        "kept_fingerprint": np.array([k.fingerprint for k in kept.values()], np.int64),
        "kept_size": np.array([len(c.value) for c in codes], np.int64),
        "kept_kernel": np.concatenate([c.kernel for c in codes]),
        "kept_position": np.concatenate([c.position for c in codes]),
        "kept_value": np.concatenate([c.value for c in codes]),
        "kept_linear": np.stack([k.terms.linear for k in kept.values()]),
        "kept_numbers": np.array(numbers),
    }


def _unpacked(arrays: dict[str, Array]) -> dict[Key, Kept]:
    if "kept_key" not in arrays:
        return {}
    ends = np.cumsum(arrays["kept_size"])
    kept = {}
    for i, (key, end) in enumerate(zip(arrays["kept_key"], ends, strict=True)):
        at = slice(end - arrays["kept_size"][i], end)
        codes = Triplets(*(arrays[f"kept_{name}"][at] for name in Triplets._fields))
        one = Kept.of(codes, arrays["kept_linear"][i], arrays["kept_numbers"][i])
        fingerprint = int(arrays["kept_fingerprint"][i])
        kept[int(key[0]), int(key[1])] = one._replace(fingerprint=fingerprint)
    return kept
