"""scikit-learn's manners without scikit-learn: parameters by name, cloning, tags."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Self

import numpy as np

from ..errors import InputError, NotFittedError


class Parameters:
    """An estimator whose __init__ stores its arguments under their names and does nothing else."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name; they count from the next `fit` on."""
        names = self._names()
        for name, value in parameters.items():
            if name not in names:
                raise InputError(
                    f"{name!r} is not a parameter of {type(self).__name__}: it has "
                    f"{', '.join(names)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The parameters that differ from their defaults."""
        defaults = inspect.signature(type(self).__init__).parameters
        told = []
        for name, value in self.get_params().items():
            if isinstance(value, np.ndarray):
                told.append(f"{name}=<array {value.shape}>")
            elif not _same(value, defaults[name].default):
                told.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(told)})"

    def _n_axes(self) -> int:
        """Of one sample: a row of a table is a sample of one axis."""
        return 2

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator; only it ever calls this."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(
                two_d_array=self._n_axes() == 1, three_d_array=self._n_axes() > 1, allow_nan=True
            ),
        )


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def not_fitted(message: str) -> NotFittedError:
    """The error that says so; where scikit-learn is in use, one of its own kind too."""
    if "sklearn" not in sys.modules:
        return NotFittedError(message)
    from sklearn.exceptions import NotFittedError as Theirs

    class Both(NotFittedError, Theirs):  # type: ignore[misc]
        def __reduce__(self) -> Any:
            return not_fitted, self.args

    Both.__name__ = Both.__qualname__ = NotFittedError.__name__
    return Both(message)
