"""Numbers as bytes: every number comes back, small ones take one byte, damage is noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convdict.errors import FileFormatError
from convdict.restore.packing import from_bytes, pack, signed, to_bytes, unpack, unsigned

WHOLE = st.integers(-(1 << 62), (1 << 62) - 1)


@given(st.lists(WHOLE))
def test_all_numbers_come_back(numbers):
    array = np.array(numbers, np.int64)
    np.testing.assert_array_equal(signed(from_bytes(to_bytes(unsigned(array)))), array)


@given(st.lists(st.integers(0, (1 << 64) - 1)))
def test_as_many_bytes_as_groups_of_seven_bits(numbers):
    data = to_bytes(np.array(numbers, np.uint64))
    assert len(data) == sum(max(1, -(-n.bit_length() // 7)) for n in numbers)
    np.testing.assert_array_equal(from_bytes(data), np.array(numbers, np.uint64))


def test_signs_take_turns():
    np.testing.assert_array_equal(unsigned(np.array([0, -1, 1, -2, 2])), [0, 1, 2, 3, 4])


@pytest.mark.parametrize("data", [b"\x80", b"\x01\xff", b"\xff" * 11 + b"\x01"])
def test_numbers_that_break_off_are_refused(data):
    with pytest.raises(FileFormatError):
        from_bytes(data)


@given(st.binary(), st.binary())
def test_blocks_come_back(a, b):
    about, blocks = unpack(pack({"x": [1, "é"]}, {"a": a, "b": b}))
    assert about == {"x": [1, "é"]}
    assert blocks == {"a": a, "b": b}


@given(st.data())
def test_damage_is_noticed(data):
    whole = pack({"x": 1}, {"a": bytes(range(200))})
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = whole[:at]
    flipped = bytearray(whole)
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    for spoilt in (cut, bytes(flipped)):
        try:
            found = unpack(spoilt)
        except FileFormatError:
            continue
        assert found == unpack(whole), "what is read in spite of it is right"
