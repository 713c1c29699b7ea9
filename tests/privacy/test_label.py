"""What a release is for: facts beside the words, which files keep, and words alone of files that have no facts."""

from __future__ import annotations

import pytest

from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Gaussian, Repeated
from tacit.privacy.label import TEXTS, Label, Stage
from tacit.privacy.ledger import Entry, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.privacy.verification import CertificateError
from tests.privacy.test_certificate import certified as of_reservation


def certified(*labels: Label | str) -> Certificate:
    reservation = Reservation([Gaussian(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "fit")
    with reservation:
        for label in labels:
            reservation.record(Gaussian(20.0), label, "a theorem")
    return of_reservation(reservation, epsilon=6.0)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (Label(Stage.SWEEP, "age", 3), "age, sweep 3"),
        (Label(Stage.TREE, round=4), "tree 4"),
        (Label(Stage.LEAVES, "leaves", 4), "tree 4, leaves"),
        (Label(Stage.SPLITS, "node 1 of depth 2", 4), "tree 4, node 1 of depth 2"),
        (Label(Stage.BOUNDS, "age"), "bounds of age"),
        (Label(Stage.COUNTS, "number of rows"), "number of rows"),
        (Label(Stage.BOUNDS, "{round} {x}"), "bounds of {round} {x}"),
        (Label(Stage.BINNING, "age", text="fine counts of age"), "fine counts of age"),
        (Label.of("whatever it is"), "whatever it is"),
    ],
)
def test_a_label_reads_as_its_stage_has_it(label: Label, text: str) -> None:
    assert str(label) == label.text == text
    entry = Entry(0, label, Gaussian(1.0), "t")
    assert str(entry) == entry.label == text
    assert (entry.stage, entry.subject, entry.round) == (label.stage, label.subject, label.round)


def test_every_stage_with_a_round_says_it() -> None:
    for stage in TEXTS:
        one, two = (Label(stage, "age", number) for number in (1, 2))
        assert (one.text != two.text) == ("{round}" in TEXTS[stage])
        assert "age" in one.text
        assert Label(stage, "age", 1) != Label(stage, "fare", 1)
    assert len({str(stage) for stage in Stage}) == len(Stage)


def test_facts_survive_a_file_and_are_part_of_its_digest() -> None:
    labels = [
        Label(Stage.SWEEP, "age", 3),
        Label(Stage.BINNING, "age", text="fine counts of age"),
        Label.of("of my own"),
        Label(Stage.TREE, round=1),
    ]
    certificate = certified(*labels)
    assert certificate.verify() == []
    read = Certificate.from_json(certificate.to_json())
    assert read == certificate
    assert [entry.what for entry in read.entries] == labels
    written = certificate.to_dict()
    assert written["entries"][0] == {
        "label": "age, sweep 3",
        "stage": "sweeps",
        "subject": "age",
        "round": 3,
        "charge": {"kind": "gaussian", "noise_multiplier": 20.0},
        "theorem": "a theorem",
    }
    assert set(written["entries"][2]) == {"label", "charge", "theorem"}
    written["entries"][0]["stage"] = "trees"
    assert any("digest" in problem for problem in Certificate.from_dict(written).verify())
    for wrong in (1e308, 10**300, -1, True, "3", 2.5):
        read_anew = certificate.to_dict()
        read_anew["entries"][0]["round"] = wrong
        with pytest.raises(CertificateError, match="damaged"):
            Certificate.from_dict(read_anew)
    written["entries"][0]["stage"] = "no such stage"
    with pytest.raises(CertificateError, match="damaged"):
        Certificate.from_dict(written)


def test_gathering_keeps_the_stage_and_never_merges_two() -> None:
    labels = [Label(Stage.SWEEP, f"x{i % 2}", i, f"x{i % 2}, part {i}") for i in range(100)]
    others = [Label(Stage.TREE, f"x{i % 2}", i, f"x{i % 2}, part {i}") for i in range(99)]
    result = certified(*labels, *others).entries
    assert len(result) == 1 + 99
    assert (result[0].stage, result[0].label, result[0].charge) == (
        Stage.SWEEP,
        "x#, part #",
        Repeated(Gaussian(20.0), 100),
    )
    assert {entry.stage for entry in result[1:]} == {Stage.TREE}
