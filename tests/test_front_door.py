"""All public names are there, and asking for one loads no more than it needs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import convdict as cd

STUB = Path(cd.__file__).with_suffix(".pyi")


def listed():
    tree = ast.parse(STUB.read_text())
    return {
        (node.module, name.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def test_names_are_what_the_stub_says():
    assert {name for _, name in listed()} == set(cd.__all__) <= set(dir(cd))
    for module, name in listed() - {("version", "__version__")}:
        assert getattr(cd, name).__module__ == f"convdict.{module}"
    with pytest.raises(AttributeError):
        cd.nothing_of_this_name  # noqa: B018


@pytest.mark.parametrize("module", ["convdict", "convdict.command.main"])
def test_nothing_heavy_is_imported_at_the_door(module):
    heavy = "numpy", "scipy", "numba", "rich", "PIL", "matplotlib", "tifffile", "h5py", "zarr"
    code = f"import sys, {module}; print(*[m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_extras_are_imported_only_when_they_are_needed():
    code = (
        "import sys, numpy as np, convdict as cd\n"
        "cd.ConvDictLearner(2, (4, 4), 0.1, split=None).fit(np.random.rand(2, 16, 16))\n"
        "print(*[m for m in ('matplotlib', 'h5py', 'zarr', 'skimage', 'torch', 'rich') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
