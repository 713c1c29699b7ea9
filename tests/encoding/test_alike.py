"""Texts that look like declared ones: in what alone they differ."""

from __future__ import annotations

import unicodedata

import pytest

from tacit.schema.alike import difference

TOWNS = ("Köln", "New York", "München", "file")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (unicodedata.normalize("NFD", "Köln"), "in Unicode form (composed or decomposed) from 'Köln'"),
        (unicodedata.normalize("NFD", " München "), "in Unicode form (composed or decomposed) from 'München'"),
        ("Köln\u200b", "in invisible characters or blanks from 'Köln'"),
        ("Kö\u00adln", "in invisible characters or blanks from 'Köln'"),
        ("New\u00a0York", "in invisible characters or blanks from 'New York'"),
        ("New  York", "in invisible characters or blanks from 'New York'"),
        ("\ufeffKöln", "in invisible characters or blanks from 'Köln'"),
        ("KÖLN", "in case from 'Köln'"),
        ("new\u00a0york", "in case from 'New York'"),
        ("ﬁle", "in case from 'file'"),  # the ligature fi
        ("ｆｉｌｅ", "in compatibility characters from 'file'"),
        ("Köln", ""),
        (" Köln ", ""),
        ("Koln", ""),
        ("", ""),
        ("\u200b", ""),
        ("Bonn", ""),
    ],
)
def test_differences(value: str, reason: str) -> None:
    assert difference(value, TOWNS) == reason


def test_signs_of_vowels_are_seen() -> None:
    assert difference("कि", ("क",)) == difference("קָ", ("ק",)) == ""
