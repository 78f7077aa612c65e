"""What a run begins with: a seed, and a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..model.arrays import dictionary_array
from ..model.problem import Array
from .constraint import Constraint
from .settings import Settings

DICTIONARY, IMAGES, TILES, REGIONS = range(1, 5)  # what random numbers are for


def seed_from(random_state: Any) -> int:
    """The number that all randomness of a run follows from."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state is {random_state!r}: give a whole number, a NumPy generator, or None"
    )


def random_numbers(seed: int, purpose: int, *where: int) -> np.random.Generator:
    """Those for one purpose at one place: nothing that happened before decides on them."""
    return np.random.default_rng([purpose, *where, seed])


def first_dictionary(init: Any, s: Settings, n_channels: int, seed: int) -> Array:
    """The user's, or Gaussian noise, as the constraint allows it."""
    shape = (s.n_kernels, n_channels, *s.kernel)
    has_channels = s.channel_axis is not None
    return first_kernels(init, shape, s.constraint, seed, s.dtype, has_channels=has_channels)


def first_kernels(
    init: Any,
    shape: tuple[int, ...],
    constraint: Constraint,
    seed: int,
    dtype: np.dtype[Any],
    *,
    has_channels: bool = False,
) -> Array:
    """The same for kernels of any shape (M, C, *kernel)."""
    if init is None:
        d = random_numbers(seed, DICTIONARY).standard_normal(shape)
        return constraint(np.abs(d) if constraint.nonnegative else d).astype(dtype)
    wanted = shape if has_channels else (shape[0], *shape[2:])
    if np.shape(init) != wanted:
        raise InputError(
            f"init has shape {np.shape(init)} but n_kernels, channels and kernel_size call for "
            f"{wanted}"
        )
    try:
        d = dictionary_array(init, n_axes=len(shape) - 2, has_channels=has_channels)
    except InputError as error:
        raise InputError(f"init: {error}") from error
    return constraint(d).astype(dtype)
