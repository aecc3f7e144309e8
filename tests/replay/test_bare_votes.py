"""A file of bare votes is the log that would have brought them."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from connector.domain.instants import format_instant
from connector.replay import Misused, Unreadable, replay
from tests import compare

from .files import Kept, Triple, fold_of_votes, read_triples, write_csv, write_jsonl

VOTES: list[Triple] = [
    ("t1", "w1", "yes"),
    ("t1", "w2", "yes"),
    ("t2", "w1", "no"),
    ("t2", "w2", "yes"),
    ("t1", "w3", "yes"),
    ("t2", "w3", "no"),
]


@pytest.mark.parametrize(
    ("name", "kind", "classes"),
    [
        ("rte", "binary", ["0", "1"]),
        ("temp", "binary", ["0", "1"]),
        ("dog", "categorical", ["0", "1", "2", "3"]),
    ],
)
def test_real_crowds_give_what_the_plain_fold_gives(
    name: str, kind: str, classes: list[str], data_dir: Path, tmp_path: Path
) -> None:
    votes = read_triples(data_dir / name / "labels.csv")
    rng = random.Random(name)
    rng.shuffle(votes)
    # Repeated and replaced votes too, which come after the first ones.
    votes += rng.sample(votes, 50)
    votes += [(t, w, rng.choice(classes)) for t, w, _ in rng.sample(votes, 200)]
    kept = Kept(write_csv(tmp_path / f"{name}.csv", votes))
    fold = fold_of_votes(votes, name, kind, classes)

    labels = {row["task"]: row for row in fold.task_labels()}
    assert [x.task for x in kept.labels[name]] == list(labels)
    for x in kept.labels[name]:
        row = labels[x.task]
        assert (x.label, x.status, x.votes) == (row["label"], row["status"], row["votes"])
        got = {"confidence": x.confidence, "p": dict(zip(classes, x.probabilities, strict=True))}
        want = {"confidence": row["confidence"], "p": row["probabilities"]}
        assert compare.difference(want, got) is None
    compare.assert_view(fold, "worker_quality", kept.workers[name])
    # Rows have no time, so each is its number in microseconds; the fold's clock stood still.
    for topic in ("labels.resolved", "annotations.dead"):
        sent = [(k, v, _timeless(h)) for k, v, h in kept.sent(topic)]
        compare.assert_messages(fold, topic, sent)
    counts = fold.event_accounting()[0]
    for column in ("received", "applied", "duplicates", "stale", "dead"):
        assert getattr(kept.counts, column) == counts[column]


def _timeless(headers: Any) -> Any:
    offset = int(dict(headers)["ce_id"].split(b"/")[2])
    at = format_instant(offset).encode()
    assert dict(headers)["ce_time"] == at
    return tuple((k, format_instant(0).encode() if v == at else v) for k, v in headers)


def _as_csv(path: Path) -> Path:
    return write_csv(path / "votes.csv", VOTES)


def _as_tsv(path: Path) -> Path:
    target = path / "votes.tsv"
    target.write_text(
        "worker\tlabel\tother, free\ttask\n" + "".join(f"{w}\t{x}\t?\t{t}\n" for t, w, x in VOTES)
    )
    return target


def _as_csv_of_a_spreadsheet(path: Path) -> Path:
    target = path / "votes.csv"
    rows = "".join(f'"{t}";{w};{x}\r\n' for t, w, x in VOTES)
    target.write_bytes(b"\xef\xbb\xbftask; worker ;label\r\n" + rows.encode())
    return target


def _as_gzip(path: Path) -> Path:
    target = path / "votes.csv.gz"
    target.write_bytes(gzip.compress(_as_csv(path).read_bytes()))
    return target


def _as_jsonl(path: Path) -> Path:
    rows = [{"task": t, "worker": w, "label": x, "note": None} for t, w, x in VOTES]
    return write_jsonl(path / "votes.jsonl", rows)


def _as_parquet(path: Path) -> Path:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    columns = dict(
        zip(("task", "worker", "label"), map(list, zip(*VOTES, strict=True)), strict=True)
    )
    target = path / "votes.parquet"
    parquet.write_table(arrow.table(columns), target)
    return target


def _without_extension(path: Path) -> Path:
    return _as_jsonl(path).rename(path / "votes")


@pytest.mark.parametrize(
    "write",
    [
        _as_csv,
        _as_tsv,
        _as_csv_of_a_spreadsheet,
        _as_gzip,
        _as_jsonl,
        _as_parquet,
        _without_extension,
    ],
)
def test_the_same_votes_in_any_format_give_the_same_labels(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    kept = Kept(write(tmp_path))
    plain = Kept(_as_csv(tmp_path))
    assert kept.labels == plain.labels
    assert list(kept.labels) == ["votes"]
    assert kept.messages == plain.messages


def test_standard_input_is_read_like_a_file(tmp_path: Path) -> None:
    data = _as_csv(tmp_path).read_bytes()
    kept = Kept("-", stdin=io.BytesIO(data))
    assert list(kept.labels) == ["replay"]
    assert kept.counts.applied == 1 + len(VOTES)


def test_several_files_are_one_project_in_the_order_given(tmp_path: Path) -> None:
    first = write_csv(tmp_path / "a.csv", VOTES[:3])
    second = write_csv(tmp_path / "b.csv", VOTES[3:])
    assert Kept(first, second, project="votes").labels == Kept(_as_csv(tmp_path)).labels


def test_integer_labels_are_ordered_as_numbers_and_others_as_text(tmp_path: Path) -> None:
    numbers = write_csv(tmp_path / "n.csv", [("t", f"w{x}", x) for x in (10, 9, -1)])
    assert Kept(numbers).configs["n"].classes == ("-1", "9", "10")
    texts = write_csv(tmp_path / "s.csv", [("t", f"w{x}", x) for x in ("10", "9", "x")])
    assert Kept(texts).configs["s"].classes == ("10", "9", "x")


def test_two_classes_make_a_binary_project_and_more_a_categorical_one(tmp_path: Path) -> None:
    assert Kept(_as_csv(tmp_path)).configs["votes"].kind == "binary"
    assert (
        Kept(_as_csv(tmp_path), classes=["no", "yes", "?"]).configs["votes"].kind == "categorical"
    )


def test_the_options_of_resolution_hold(tmp_path: Path) -> None:
    settings = {"resolve": {"confidence": 0.6, "min_labels": 1, "doubt": 0.0}}
    kept = Kept(_as_csv(tmp_path), settings=settings)
    assert kept.configs["votes"].confidence == 0.6
    first = json.loads(kept.sent("labels.resolved")[0][1] or b"")
    assert (first["task"], first["votes"]) == ("t1", 1)
    assert first["confidence"] == pytest.approx(2 / 3, abs=1e-12)


def test_a_row_has_the_time_of_its_at_and_else_of_its_number(tmp_path: Path) -> None:
    at = "2026-01-02T03:04:05.5+01:00"
    rows = [("t", "a", "0", ""), ("t", "b", "1", at), ("u", "a", "1", ""), ("u", "b", "0", "soon")]
    kept = Kept(write_csv(tmp_path / "v.csv", rows, "task,worker,label,at"))
    times = {row["worker"]: row["updated_at"] for row in kept.workers["v"]}
    # Time never goes back: the third row comes at the second one's.
    assert times == {"a": "2026-01-02T02:04:05.500000Z", "b": "2026-01-02T02:04:05.500000Z"}
    assert kept.counts.dead_codes == {"invalid_field": 1}


def test_parquet_columns_of_any_common_type_are_read(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    import pyarrow as arrow
    import pyarrow.parquet as parquet

    instant = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)
    table = arrow.table(
        {
            "label": arrow.array([1.0, 0.0, None]),  # integers with a gap, as pandas makes them
            "task": arrow.array([7, 7, 7]),
            "worker": arrow.array(["a", "b", "c"]).dictionary_encode(),
            "at": arrow.array([instant] * 3, arrow.timestamp("ns", "Europe/Berlin")),
        }
    )
    parquet.write_table(table, tmp_path / "v.parquet")
    kept = Kept(tmp_path / "v.parquet")
    assert [(x.task, x.votes) for x in kept.labels["v"]] == [("7", 2)]
    assert kept.counts.examples[0].line == 3
    assert kept.workers["v"][0]["updated_at"] == "2026-01-02T03:04:05.000006Z"


def test_rows_that_cannot_be_used_are_counted_with_the_line_of_the_first(tmp_path: Path) -> None:
    target = tmp_path / "votes.csv"
    target.write_bytes(
        b'task,worker,label\nt1,w1,0\nt1,"w\n2",1\n,w1,0\nt1,w3,\n\nt1,w4\nt1,w5,7\nt\xff1,w6,0\n'
    )
    kept = Kept(target, classes=["0", "1"])
    assert kept.counts.applied == 3
    assert kept.counts.dead == 5
    assert kept.counts.dead_codes == {"invalid_field": 4, "unknown_class": 1}
    found = [(e.code, e.line) for e in kept.counts.examples]
    assert found == [
        ("invalid_field", 5),
        ("invalid_field", 6),
        ("invalid_field", 8),
        ("unknown_class", 9),
    ]
    assert "worker" not in kept.counts.examples[0].message
    assert len(kept.sent("annotations.dead")) == 5


def test_a_line_that_is_no_json_is_a_dead_letter_among_jsonl_votes(tmp_path: Path) -> None:
    target = tmp_path / "votes.jsonl"
    good = [json.dumps({"task": 1, "worker": 2, "label": x}) for x in ("a", "b")]
    target.write_text(
        "\n".join([good[0], "{oops", "[1]", "", good[1], '{"task":1,"worker":[],"label":{}}'])
    )
    kept = Kept(target)
    assert kept.counts.dead_codes == {"invalid_json": 2, "invalid_field": 1}
    assert [e.line for e in kept.counts.examples] == [2, 3, 6]


@pytest.mark.parametrize(
    ("content", "options", "error", "said"),
    [
        ("task,label\nt,0\n", {}, Unreadable, "'worker'"),
        ("", {}, Unreadable, "'task', 'worker', 'label'"),
        ("task,worker,label\nt,w,0\n", {}, Misused, "--classes"),
        ("task,worker,label\n", {}, Misused, "no label at all"),
        ("task,worker,label\nt,w,lo\nt,v,hi\n", {"kind": "ordinal"}, Misused, "in their order"),
        ("task,worker,label\nt,w,0\nt,v,1\nt,u,2\n", {"kind": "binary"}, Misused, "exactly two"),
        ("task,worker,label\nt,w,0\nt,v,1\n", {"kind": "odd"}, Misused, "kind"),
        ("task,worker,label\nt,w,0\nt,v,1\n", {"classes": ["0", "0"]}, Misused, "twice"),
        (
            "task,worker,label\nt,w,0\nt,v,1\n",
            {"settings": {"resolve": {"confidence": 2}}},
            Misused,
            "resolve.confidence",
        ),
        ('task,worker,label\nt,w,0\n"t,v,1\n', {}, Unreadable, "line 3"),
        (
            "task,worker,label\n" + "".join(f"t,w,{i}\n" for i in range(1001)),
            {},
            Misused,
            "more than 1000",
        ),
    ],
)
def test_what_makes_no_project_is_refused_with_what_to_do(
    content: str, options: dict[str, Any], error: type[Exception], said: str, tmp_path: Path
) -> None:
    target = tmp_path / "votes.csv"
    target.write_text(content)
    with pytest.raises(error, match=said), replay([target], **options):
        pass


def test_files_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="nowhere"), replay([tmp_path / "nowhere.csv"]):
        pass
    torn = tmp_path / "torn.csv.gz"
    torn.write_bytes(gzip.compress(_as_csv(tmp_path).read_bytes() * 100)[:-20])
    with pytest.raises(Unreadable, match="not whole"), replay([torn]):
        pass
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(Unreadable, match="Parquet"), replay([broken]):
        pass
    with pytest.raises(Misused, match="once"), replay(["-", "-"]):
        pass
    with pytest.raises(Misused, match="at least one"), replay([]):
        pass


def test_parquet_without_pyarrow_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = _as_parquet(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(Unreadable, match=r"pip install crowdresolve\[parquet\]"), replay([target]):
        pass


def test_progress_is_told_in_bytes_up_to_the_end(tmp_path: Path) -> None:
    target = write_csv(tmp_path / "v.csv", [(i % 50, i, i % 2) for i in range(3000)])
    told: list[tuple[int, int, int]] = []
    with replay([target, target], project="v", progress=lambda *seen: told.append(seen)):
        pass
    size = 2 * target.stat().st_size
    assert told[-1] == (size, size, 6001)
    assert all(a[0] <= b[0] <= size for a, b in pairwise(told))
