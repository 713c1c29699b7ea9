"""The file of what only a person knows: every key by its name, and nothing else."""

from __future__ import annotations

import pytest

from tacit.report.meta import KEYS, MetaError, read_meta


def written(tmp_path, text):
    path = tmp_path / "card.toml"
    path.write_text(text)
    return path


def test_every_key_is_read_as_text(tmp_path):
    special = {"sector": "Energy", "published": "2026-11-28"}
    text = "\n".join(f'{key} = "{special.get(key, key + " text")}"' for key in KEYS)
    meta = read_meta(written(tmp_path, text))
    assert set(meta) == set(KEYS)
    assert meta["controller"] == "controller text"
    assert read_meta(None) == {}


def test_lists_days_and_numbers_may_be_written_as_such(tmp_path):
    text = 'authors = ["A. Doe", "B.\\nRoe"]\npublished = 2026-01-31\naccount_total = 3.5'
    meta = read_meta(written(tmp_path, text))
    assert meta.lines("authors") == ["A. Doe", "B. Roe"]
    assert (meta["published"], meta["account_total"]) == ("2026-01-31", "epsilon 3.5")
    assert meta.lines("sources") == []


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    with pytest.raises(MetaError, match=r"3 problems:\n  .*'contoller'.*\n  .*purpose must.*\n  .*sector must be one"):
        read_meta(written(tmp_path, 'contoller = "x"\ntitle = "y"\npurpose = 3\nsector = "Farming"'))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('contoller = "x"', "did you mean 'controller'"),
        ('colour = "x"', "the keys are title, controller"),
        ("[controller]\nname = 'x'", "controller must be a text in quotes"),
        ('purpose = ""', "purpose must be a text"),
        ("purpose = 3", "purpose must be a text"),
        ("purpose = ['a']", "purpose must be a text"),
        ("authors = []", "a list of texts"),
        ("authors = ['a', 3]", "a list of texts"),
        ("account_total = true", "account_total must be a text"),
        ('sector = "Farming"', "sector must be one of Technology"),
        ('published = "28.11.2026"', "a day as YYYY-MM-DD"),
        ('published = "20261128"', "a day as YYYY-MM-DD"),
        ("purpose: x", "is no TOML file"),
        ("purpose = " + "[" * 5000, "is no TOML file: it is nested too deeply"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, text, words):
    with pytest.raises(MetaError, match=words):
        read_meta(written(tmp_path, text))


def test_a_file_of_other_bytes_is_refused(tmp_path):
    path = tmp_path / "card.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(MetaError, match="no TOML"):
        read_meta(path)
