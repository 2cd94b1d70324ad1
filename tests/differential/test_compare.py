"""The comparer sees what it must see and nothing else."""

from __future__ import annotations

from compare import around, compare, split

LINE = '{"case":"c","step":0,"value":{"a":1,"b":2},"error":null}'


def test_equal_lines_are_equal() -> None:
    assert compare([LINE], [LINE]).is_equal


def test_nothing_is_not_equal_to_nothing() -> None:
    assert not compare([], []).is_equal


def test_order_of_keys_counts() -> None:
    report = compare([LINE], [LINE.replace('"a":1,"b":2', '"b":2,"a":1')])
    assert [difference.field for difference in report.differences] == ["value"]


def test_form_of_numbers_counts() -> None:
    assert not compare([LINE], [LINE.replace('"b":2', '"b":2.0')]).is_equal


def test_order_of_fields_counts() -> None:
    report = compare(['{"case":1,"step":0,"a":1,"b":2}'], ['{"case":1,"step":0,"b":2,"a":1}'])
    assert [difference.field for difference in report.differences] == ["order of fields"]


def test_messages_of_errors_count_but_not_those_of_refusals() -> None:
    for name, counts in (("error", True), ("threw", True), ("fatal", False)):
        lines = [f'{{"case":1,"step":-1,"{name}":"{text}"}}' for text in ("this", "that")]
        assert compare(lines[:1], lines[1:]).is_equal is not counts


def test_refusal_is_one_difference() -> None:
    refused = '{"case":"c","step":-1,"op":"create","fatal":"no"}'
    assert [difference.field for difference in compare([LINE], [refused]).differences] == ["refusal"]


def test_shown_is_where_texts_part() -> None:
    assert around("x" * 500 + "a", "x" * 500 + "b", before=3) == ("… xxxa", "… xxxb")


def test_missing_and_additional_lines_are_seen() -> None:
    second = LINE.replace('"step":0', '"step":1')
    assert [d.field for d in compare([LINE, second], [LINE]).differences] == ["line missing"]
    assert [d.field for d in compare([LINE], [LINE, second]).differences] == ["line too many"]
    assert [d.field for d in compare([LINE], [LINE, LINE.replace('"c"', '"d"')]).differences] == [
        "line too many"
    ]


def test_lines_from_an_overrun_on_are_left_out() -> None:
    cut = '{"case":"c","step":1,"value":1,"overrun":true}'
    report = compare([LINE, cut], [LINE, cut.replace("1,", "2,")])
    assert report.is_equal
    assert report.overrun == {'"c"'}


def test_text_of_values_is_kept() -> None:
    assert split('{ "a" : 1e21 , "b":{"x": [ ] } }') == {"a": "1e21", "b": '{"x": [ ] }'}
