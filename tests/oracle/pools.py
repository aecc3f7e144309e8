"""Ids, times and settings for the random logs, made to be awkward; and what is no event."""

from __future__ import annotations

Fields = dict[str, object]
Id = str | int

TASK_IDS: tuple[Id, ...] = (
    *("t1", 2, "a/b", "50%", "50%25", "a%2Fb", "ümläut/任务", " t1", "T1", "a\u0301", "\u00e1"),
    *(
        "x" * 512,
        '"quoted"\\',
        "line\nbreak",
        "0",
        -7,
        12345678901234567890123,
        "😀",
        "None",
        "2.0",
    ),
)
WORKER_IDS: tuple[Id, ...] = (
    *("w1", "w2", 3, "w/4", "w%5", "anna", "björn", "工人", "w1 ", "W1", "w\u00a0", 10**30),
    *("é" * 256, "null", "true", "w-17", "w-18", "w-19", "w-20", "'; DROP TABLE votes; --"),
)
PROJECT_IDS: tuple[Id, ...] = ("p", "q/r", 7, "s%", "プロジェクト", "u", "v", "w")
CLASS_NAMES: tuple[Id, ...] = (0, 1, "maybe", "é/%", "yes", "no", "2", " ")

# One instant in many spellings, and its neighbours to the microsecond.
INSTANTS = (
    *("2026-01-02T03:04:05Z", "2026-01-02t03:04:05z", "2026-01-02T04:04:05+01:00"),
    *("2026-01-02T03:04:05.0000009Z", "2026-01-01T23:34:05-03:30", "2026-01-02T03:04:05.000001Z"),
    *("2026-01-02T03:04:05.5-00:00", "1970-01-01T00:00:00Z", "2200-12-31T23:59:59.999999999Z"),
    *("2026-01-02T03:04:06Z", "2026-01-02T03:04:07Z", "2026-01-03T00:00:00+23:59"),
)

NOT_JSON: tuple[bytes | None, ...] = (
    *(None, b"", b" ", b"{", b"nonsense", b"[]", b'"text"', b"12", b"null", b"\xff\xfe{}"),
    *(b'{"type":"annotation.submitted","x":"\xed\xa0\x80"}', b'{"type":"\xc3"}', b"\xef\xbb\xbf{}"),
    *(b'{"type":"task.added","x":NaN}', b'{"type":"task.added","x":-Infinity}', b"{} {}"),
    *(b"[" * 100_000, b'{"a":' * 100_000, b'{"type":"a\x00b"}', b"{'type':'task.added'}"),
)
NO_TYPES: tuple[object, ...] = ("", "annotation", "Task.added", "label.resolved", 1, None, [], {})
NO_IDS: tuple[object, ...] = (
    *("", True, False, None, 1.5, 1.0, [], {}, ["t1"], "x" * 513, "é" * 257, "a\0b", "\ud800"),
    *(10**512, "x" * 5000),
)
NO_INSTANTS: tuple[object, ...] = (
    *("", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-02-30T00:00:00Z"),
    *("2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04Z", "2026-1-2T03:04:05Z"),
    *("1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "2200-12-31T23:59:59-01:00", 1767323045),
    *("2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+00:60", "2026-01-02T03:04:05.Z", None),
    *("1970-01-01T00:00:00+00:01", "2026-01-02T03:04:05Z\n", "٢٠٢٦-01-02T03:04:05Z", "99999-01-01"),
    *("0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", True),
)
NO_REVISIONS: tuple[object, ...] = (1.0, "1", None, True, 2**63, -(2**63) - 1, [1], 1e3)

NO_TASKS: tuple[tuple[str, object], ...] = (
    *(("prior", []), ("prior", None), ("prior", [1]), ("prior", [1] * 9), ("prior", [0, 1])),
    *(("prior", [-1, 2]), ("prior", ["1", 1]), ("prior", {}), ("prior", [1e-320, 1e300])),
    *(("max_labels", 0), ("max_labels", 2.0), ("max_labels", None), ("max_labels", 2**31)),
    *(("priority", "1"), ("priority", True), ("priority", None), ("priority", 10**400)),
)

# What a declaration may not say: where, and the value.
NO_CONFIGS: tuple[tuple[str, object], ...] = (
    *(("kind", "unary"), ("kind", None), ("classes", ["a"]), ("classes", ["a", "a"])),
    *(("classes", ["1", 1]), ("classes", "ab"), ("classes", ["a", None]), ("closed", 1)),
    *(("model", None), ("model", []), ("resolve", None), ("assign", "uniform"), ("quality", 0)),
    *(("model.worker_prior", [2]), ("model.worker_prior", [0, 1]), ("model.class_prior", [1])),
    *(("model.worker_prior", [2, 1e7]), ("model.worker_prior", [1e-7, 1]), ("reconcile", False)),
    *(("model.class_prior", [0, 1]), ("model.class_prior", None), ("resolve.confidence", 1.01)),
    *(("resolve.confidence", None), ("resolve.doubt", 1), ("resolve.doubt", -0.1)),
    *(("resolve.min_labels", 0), ("resolve.min_labels", 1.0), ("resolve.max_labels", 0)),
    *(("resolve.max_labels", None), ("resolve.max_labels", 2**31), ("resolve.calibrate", 1)),
    *(("resolve.ambiguity", 1.0), ("resolve.reopen_confidence", 0.9999), ("assign.budget", -1)),
    *(("assign.policy", "fair"), ("assign.probes", "some"), ("assign.probes", -1)),
    *(("assign.lease_seconds", 0), ("assign.gold_rate", 2), ("assign.skilled_after", 0.5)),
    *(("assign.skilled_accuracy", "0.8"), ("assign.experts", "anna"), ("assign.experts", [""])),
    *(("quality.block_spammers_after", -1), ("reconcile.algorithm", "magic")),
    *(("reconcile.max_flip_fraction", True), ("resolve.confidence", 10**400)),
)


# Odd ones: at a threshold that votes meet exactly (1/2, 4/5, 1), rounding would decide.
CONFIDENCES = (0.607, 0.713, 0.807, 0.893, 0.953, 0.997)
