"""Messages that we encode ourselves, read back by the client."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch

from connector.adapters.kafka.encoding import encoded
from connector.adapters.kafka.ready import ReadyRecords

SIZES = st.sampled_from([0, 1, 63, 64, 2047, 2048, 70_000])
CONTENT = st.none() | st.binary(max_size=20) | SIZES.map(lambda size: b"x" * size)
MESSAGE = st.tuples(CONTENT, CONTENT, st.lists(st.tuples(st.text(max_size=5), CONTENT), max_size=3))


@given(st.lists(MESSAGE, min_size=1, max_size=10))
def test_the_client_reads_what_was_encoded(messages: list[tuple[object, ...]]) -> None:
    """But for null headers, which it cannot write either: they are empty."""
    records = [encoded(n, *message) for n, message in enumerate(messages)]  # type: ignore[arg-type]
    made = ReadyRecords(0, len(records), b"".join(records))
    made.set_producer_state(7, 1, 40, True)
    made.close()
    batch = DefaultRecordBatch(made.buffer())
    assert batch.validate_crc()
    assert (batch.producer_id, batch.base_sequence, batch.is_transactional) == (7, 40, True)
    assert batch.last_offset_delta == len(messages) - 1
    found = list(batch)
    assert {record.timestamp for record in found} == {batch.first_timestamp}
    assert [record.offset for record in found] == list(range(len(messages)))
    assert [(r.key, r.value, r.headers) for r in found] == [
        (key, value, [(name, content or b"") for name, content in headers])  # type: ignore[attr-defined]
        for key, value, headers in messages
    ]


def test_a_filled_batch_takes_no_more_and_is_sent_at_once() -> None:
    made = ReadyRecords(0, 1, encoded(0, b"k", b"v", ()))
    made.append(0, b"k", b"v")
    assert made.is_full()
    assert made.next_offset() == 1
