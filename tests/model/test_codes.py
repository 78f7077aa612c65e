"""Codes: what they hold, how they look, and that files give them back."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest

import convdict as cd
from convdict.errors import FileFormatError


@pytest.fixture(params=["circular", "free"])
def codes(request, rng):
    image, dictionary = rng.standard_normal((14, 11)), rng.standard_normal((3, 4, 3))
    return cd.sparse_code(image, dictionary, 2.0, boundary=request.param)


def test_fields_agree_with_each_other(codes):
    dense = codes.to_dense()
    assert dense.shape == codes.shape == (3, *codes.shape[1:])
    assert np.count_nonzero(dense) == codes.nnz == len(codes.kernel) == len(codes.position)
    assert codes.density == codes.nnz / dense.size
    np.testing.assert_array_equal(dense[(codes.kernel, *codes.position.T)], codes.value)
    flat = np.ravel_multi_index((codes.kernel, *codes.position.T), codes.shape)
    assert (np.diff(flat) > 0).all(), "entries are sorted and unique"


def test_scipy_matrix_holds_the_same_maps(codes):
    matrix = codes.to_scipy()
    np.testing.assert_array_equal(matrix.toarray(), codes.to_dense().reshape(3, -1))


def test_repr_says_what_matters(codes):
    text = repr(codes)
    for word in ("3 kernels", codes.boundary, f"{codes.nnz} nonzeros", "Converged: gap"):
        assert word in text


def test_equality_compares_coefficients(codes):
    assert codes == replace(codes, n_iter=99)
    assert codes != replace(codes, value=codes.value * 2)
    assert codes != "codes"
    with pytest.raises(TypeError):
        hash(codes)


def test_a_file_gives_back_the_same_codes(codes, tmp_path):
    path = tmp_path / "image.codes"
    codes.save(path)
    again = cd.Codes.load(path)
    assert again == codes
    assert again.value.dtype == codes.value.dtype
    for name in ("objective", "gap", "tol", "n_iter", "status", "origin", "converged"):
        assert getattr(again, name) == getattr(codes, name)
    assert list(tmp_path.iterdir()) == [path]


def rewritten(path, **changes):
    with np.load(path) as archive:
        content = dict(archive)
    about = json.loads(str(content["about"]))
    about.update(changes.pop("about", {}))
    content.update(changes)
    np.savez(path, **{**content, "about": np.array(json.dumps(about))})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"about": {"version": 2}}, "update convdict"),
        ({"about": {"format": "other"}}, "not a file of convdict codes"),
        ({"about": {"shape": [3, 2, 2]}}, "damaged"),
        ({"about": {"shape": "three"}}, "damaged"),
        ({"about": {"boundary": "torus"}}, "damaged"),
        ({"value": np.array([np.nan], np.float32)}, "damaged"),
        ({"kernel": np.array([7], np.int32)}, "damaged"),
        ({"position": np.zeros((1, 5), np.int32)}, "damaged"),
        ({"about": {"gap": -1.0}}, "damaged"),
        ({"about": {"n_iter": float("inf")}}, "damaged"),
        ({"about": {"signal_shape": [-1, -1]}}, "damaged"),
    ],
)
def test_a_damaged_file_is_refused_with_a_sentence(change, complaint, codes, tmp_path):
    path = tmp_path / "codes.npz"
    codes.save(path)
    rewritten(path, **change)
    with pytest.raises(FileFormatError, match=complaint):
        cd.Codes.load(path)


def test_unsorted_and_repeated_entries_are_refused(codes, tmp_path):
    path = tmp_path / "codes.npz"
    for order in ([1, 0], [0, 0]):
        entries = {name: getattr(codes, name)[order] for name in ("kernel", "position", "value")}
        replace(codes, **entries).save(path)
        with pytest.raises(FileFormatError, match="damaged"):
            cd.Codes.load(path)


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_is_refused_or_harmless(seed, codes, tmp_path):
    path = tmp_path / "codes.npz"
    codes.save(path)
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    path.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        assert cd.Codes.load(path) == codes


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_file_has_the_mode_of_any_other_new_file(codes, tmp_path):
    codes.save(tmp_path / "codes.npz")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "codes.npz").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_other_files_are_refused(codes, tmp_path):
    path = tmp_path / "codes.npz"
    codes.save(path)
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:40]):
        path.write_bytes(content)
        with pytest.raises(FileFormatError):
            cd.Codes.load(path)
    np.savez(path, kernel=np.array([print], object), allow_pickle=True)
    with pytest.raises(FileFormatError):
        cd.Codes.load(path)
    with pytest.raises(FileNotFoundError):
        cd.Codes.load(tmp_path / "nowhere")
