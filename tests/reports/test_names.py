"""Names as people see them."""

from __future__ import annotations

from connector.reports.names import short, visible


def test_a_name_that_can_be_seen_is_shown_as_it_is() -> None:
    for name in ("ann", "ann b", "標注員", "عامل", "👩🏽\u200d🚀", "<b>&", "[red]", '"x"', "=1+1"):
        assert visible(name) == name


def test_what_cannot_be_seen_or_steers_is_escaped_and_in_quotes() -> None:
    assert visible(" ") == '" "'
    assert visible("ann ") == '"ann "'
    assert visible("a\nb\tc") == r'"a\nb\tc"'
    assert visible("\x1b[31mred") == r'"\x1b[31mred"'
    assert visible("\u202eevil") == r'"\u202eevil"'
    assert visible("a\u2028b") == r'"a\u2028b"'


def test_long_names_are_cut_in_the_middle_by_their_width() -> None:
    assert short("a" * 22, 22) == "a" * 22
    assert short("a" * 15 + "b" * 15, 22) == "a" * 10 + "…" + "b" * 10
    assert short("工" * 30, 22) == "工" * 5 + "…" + "工" * 5
