"""Algorithm 2 of the paper: the minimum of a surrogate that remembers all signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..model.problem import Array, Triplets
from ..statistics.surrogate import Surrogate
from ..statistics.terms import Terms
from .coded import Coded
from .coordinates import minimise_by_kernel
from .lookahead import Lookahead
from .quadratic import minimise
from .update import PAPER_SIZE, Update

LEAST_USE = 0.01  # of the most used kernel: less would let a kernel jump on a few samples


class Kept(NamedTuple):
    """What a signal contributed when it was last seen, and when that was."""

    terms: Terms
    seen: float
    fingerprint: int = 0  # of the signal: another one may come in its place

    @classmethod
    def of(cls, codes: Triplets, linear: Array, numbers: Array) -> Kept:
        constant, curvature, seen = (float(x) for x in numbers)
        return cls(Terms(codes, linear, constant, curvature), seen)

    @classmethod
    def codes_only(cls, codes: Triplets) -> Kept:
        """For an algorithm that remembers nothing else."""
        return cls.of(codes, np.empty(0, codes.value.dtype), np.zeros(3))

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (*self.terms.codes, self.terms.linear))

    def without(self, kernel: int) -> Kept:
        """As if this kernel had not been used."""
        stay = self.terms.codes.kernel != kernel
        codes = Triplets(*(a[stay] for a in self.terms.codes))
        linear = self.terms.linear.copy()
        linear[kernel : kernel + 1] = 0
        return self._replace(terms=self.terms._replace(codes=codes, linear=linear))


class SecondOrder:
    """A ← αA + XᵀX, b ← αb + Xᵀs, then d ← argmin over C of ½dᵀAd − bᵀd, from d.

    α = (1 − n/t)^p for a batch of n samples, t of them seen so far with these: what was seen at
    t′ has the weight (t′/t)^p, however samples are cut into signals and batches. With signals
    of one size, one at a time, it is the paper's (1 − 1/t)^p.
    """

    MAX_ITER = 500  # of FISTA

    def __init__(
        self,
        *,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        domain: str,
        forgetting: float,
        tolerance: tuple[float, float],
        constraint: Callable[[Array], Array],
        lookahead: float = 0.0,
        rule: str = "fista",
    ) -> None:
        self.statistics = Surrogate(shape, domain, dtype)
        self.seen = 0.0  # t
        self.n_updates = 0
        self._leading: Array | None = None
        self._forgetting = forgetting
        self._tolerance = tolerance
        self._constraint = constraint
        self._lookahead = Lookahead(lookahead, constraint)
        self._rule = rule

    def coding_dictionary(self, d: Array) -> Array:
        """Where the dictionary is going, by what is remembered of its way."""
        return self._lookahead(d, self.seen / (self._forgetting + 1))

    def update(
        self, d: Array, batch: list[Coded], before: list[Kept | None]
    ) -> tuple[Update, list[Kept]]:
        """Learn from signals, in place of what those that were seen before contributed."""
        amount = sum(
            c.size / PAPER_SIZE for c, old in zip(batch, before, strict=True) if old is None
        )
        parts = [(c.problem, self.statistics.terms(c.problem, c.codes), 1.0) for c in batch]
        alpha = (self.seen / (self.seen + amount)) ** self._forgetting if amount else 1.0
        self.statistics.scale(alpha)
        self.seen += amount
        stale = [
            (c.problem, old.terms, -self.weight(old))
            for c, old in zip(batch, before, strict=True)
            if old is not None
        ]
        changes = stale + parts
        self.statistics.add(changes)
        try:
            found = self._solve(d, alpha)
            if not np.isfinite(found.d).all():
                raise InputError(
                    "the dictionary would no longer be finite: choose units in which signals "
                    "are moderate; what was learned before is kept"
                )
        except Exception:  # what has been added is taken back, up to rounding
            self.statistics.add([(problem, term, -weight) for problem, term, weight in changes])
            self.statistics.scale(1 / alpha if alpha > 0 else 1.0)
            self.seen -= amount
            self.n_updates -= 1
            raise
        self._lookahead.follow(found.d, alpha)
        return found, [Kept(term, self.seen) for _, term, _ in parts]

    def merge(self, other: SecondOrder, d: Array, other_d: Array) -> Array:
        """The minimum for what both have seen, from between their dictionaries."""
        share = d.dtype.type(self.seen / max(self.seen + other.seen, 1e-300))
        self.statistics.merge(other.statistics)
        self.seen += other.seen
        self.n_updates += other.n_updates
        self._lookahead.mean = None  # their ways were different ones
        return self._solve(self._constraint(share * d + (1 - share) * other_d), 1.0).d

    def weight(self, old: Kept) -> float:
        """What is left of a contribution: (t′/t)^p"""
        return float((old.seen / self.seen) ** self._forgetting)

    def _solve(self, d: Array, alpha: float) -> Update:
        self.n_updates += 1
        initial, decay = self._tolerance
        find = minimise_by_kernel if self._rule == "coordinates" else minimise
        found = find(
            apply=self.statistics.hessian.apply,
            linear=self.statistics.linear,
            start=d,
            project=self._constraint,
            metric=self._metric(d),
            tolerance=initial / (1 + decay * self.n_updates),
            max_iter=self.MAX_ITER,
            leading=self._leading,
        )
        self._leading = found.leading
        value = (found.value + self.statistics.constant) / self.statistics.total
        return Update(found.d, found.n_iter, found.residual, alpha, value)

    def _metric(self, d: Array) -> Array:
        """H: how much each kernel is used, and at least a hundredth of the most."""
        energy = self.statistics.energy
        most = float(energy.max())
        h = np.maximum(energy, LEAST_USE * most) if most > 0 else np.ones_like(energy)
        return h.astype(d.dtype).reshape(-1, *(1,) * (d.ndim - 1))

    def forget(self, kernel: int, d: Array) -> None:
        """As if this kernel had never been used, and were now as in d."""
        self.statistics.forget(kernel)
        self._lookahead.restart(kernel, d)

    def state(self) -> dict[str, Array]:
        counters = {"counters": np.array([self.seen, self.n_updates])}
        leading = {} if self._leading is None else {"leading": self._leading}
        return self.statistics.state() | counters | leading | self._lookahead.state()

    def restore(self, state: dict[str, Array]) -> None:
        self.statistics.restore(state)
        self.seen, self.n_updates = float(state["counters"][0]), int(state["counters"][1])
        self._leading = state.get("leading")
        self._lookahead.restore(state)
