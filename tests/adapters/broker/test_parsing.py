"""Our reading of a batch against the client's own writing of it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from connector.adapters.kafka.batches import lenient
from connector.domain.records import Record

Sent = tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]

SIZES = st.sampled_from([0, 1, 63, 64, 127, 128, 8191, 8192, 20_000])
CONTENT = st.none() | st.binary(max_size=20) | SIZES.map(lambda size: b"x" * size)
HEADER = st.tuples(st.text(max_size=5), CONTENT)
SENT = st.tuples(
    st.integers(1, 300),  # offsets that compaction has taken away before it
    st.integers(0, 2**41),
    CONTENT,
    CONTENT,
    st.lists(HEADER, max_size=3),
)


def batch_of(sent: list[Sent]) -> tuple[bytes, list[int]]:
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 30)
    offset = -1
    offsets = []
    for gap, ms, key, value, headers in sent:
        offset += gap
        offsets.append(offset)
        builder.append(offset, ms, key, value, headers)
    return bytes(builder.build()), offsets


@given(st.lists(SENT, min_size=1, max_size=20))
@example([(1, 2**41, None, None, []), (1, 0, b"", b"", [("", None)])])
def test_a_batch_is_read_as_it_was_written(sent: list[Sent]) -> None:
    data, offsets = batch_of(sent)
    assert list(lenient(DefaultRecordBatch(data)).records("t", 3)) == [
        Record("t", 3, offset, ms * 1000, key, value, tuple(headers))
        for offset, (_, ms, key, value, headers) in zip(offsets, sent, strict=True)
    ]


@given(st.lists(SENT, min_size=1, max_size=3), st.data())
def test_a_batch_that_is_cut_short_is_damaged(sent: list[Sent], data: st.DataObject) -> None:
    whole, _ = batch_of(sent)
    header = DefaultRecordBatch.HEADER_STRUCT.size
    cut = data.draw(st.integers(header, len(whole) - 1))
    with pytest.raises((ValueError, IndexError)):
        list(lenient(DefaultRecordBatch(whole[:cut])).records("t", 3))


def test_bytes_behind_the_last_record_are_damage() -> None:
    whole, _ = batch_of([(1, 1, b"k", b"v", [])])
    with pytest.raises(ValueError, match="2 bytes follow"):
        list(lenient(DefaultRecordBatch(whole + b"\0\0")).records("t", 3))
