"""Sends votes at a steady rate, from a process of its own.

    python -m tests.bench.sender BOOTSTRAP TOPIC VOTES

It leaves out the first record, the declaration. At the end it prints, as JSON, when it handed each
offset to the client (the system's monotonic clock, which is the same in every process), and how
late it ever was.
"""

from __future__ import annotations

import json
import sys
import time

from kafka import KafkaProducer

from .crowd import PROJECT, crowd

RATE = 1000


def main() -> int:
    """Send, and say so."""
    bootstrap, topic, votes = sys.argv[1:]
    values = crowd(int(votes)).values[1:]
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, acks="all", linger_ms=0, metrics_enabled=False
    )
    producer.partitions_for(topic)
    key = PROJECT.encode()
    moments = []
    futures = []
    late = 0.0
    start = time.monotonic()
    for number, value in enumerate(values):
        due = start + number / RATE
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
            now = time.monotonic()
        late = max(late, now - due)
        moments.append(now)
        futures.append(producer.send(topic, value, key=key, partition=0))
    producer.flush()
    offsets = [future.get(30).offset for future in futures]
    print(json.dumps({"sent": list(zip(offsets, moments, strict=True)), "late": late}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
