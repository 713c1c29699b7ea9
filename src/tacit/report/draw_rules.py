"""Model cards of decision lists, halfspaces, means of models, and models said in words."""

from __future__ import annotations

from collections import defaultdict
from typing import cast

from tacit.encoding.dense import RowEncoder
from tacit.models.base import Model
from tacit.models.decision_list import DecisionListModel, ListRule
from tacit.models.halfspace import HalfspaceModel
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tacit.report import svg
from tacit.report.drawing import WIDTH, Drawing, ranking, weights
from tacit.report.model_card import ModelCard, PublicColumn, model_card, public_column

MARGIN = 8.0
ROOM = WIDTH - 2 * MARGIN
"""Width of the place for a line of words."""
INDENT = 16.0
"""How far a test that stands below the name of its column is moved to the right."""
LINE, BAR, GAP = 16.0, 8.0, 12.0
"""Heights: a line of words, the bar below them, the space to the next rule."""
COUNT = 96
"""Width of the place for the number of rows, right of the bar."""

Line = tuple[float, str]
"""Where a line of words begins, and the words."""


def draw(model: Model) -> ModelCard:
    """The model card of a :class:`DecisionListModel`."""
    rules = cast(DecisionListModel, model)
    counted = all(rule.counts is not None for rule in rules.rules)
    reading = (
        "Read from the top: the first rule whose conditions all hold decides, and what is below it does not matter."
    )
    if counted:
        reading += (
            " A bar is as long as the number of rows that reach the rule and meet it, coloured as far as they have its "
            f"class. Numbers carry noise: about {2 * rules.sd:.0f} rows either way in each."
        )
    n = len(rules.rules)
    return ModelCard(
        f"A decision list of {n} rule{'s' if n != 1 else ''}, the last one for everybody who is left.",
        reading,
        (rule_list(rules, "rules"),),
        tuple(public_column(name, encoder) for name, encoder in zip(rules.names, rules.encoders, strict=True)),
        sentences=tuple(sentence(rules, place) for place in range(n)),
    )


def sentence(model: DecisionListModel, place: int) -> str:
    """A rule in words, with the released rows of every class that it decides."""
    rule = model.rules[place]
    answer = f"the answer is “{model.classes[rule.outcome]}”"
    first = f"If {model.condition_text(rule.conditions)}, {answer}." if rule.conditions else f"Otherwise {answer}."
    if rule.counts is None:
        return first
    each = [f"{svg.short(round(max(0.0, c)))} {name}" for name, c in zip(model.classes, rule.counts, strict=True)]
    return f"{first} It decides about {svg.short(round(rule.support or 0.0))} rows: {', '.join(each)}."


def lines(model: DecisionListModel, place: int) -> list[Line]:
    """The lines of one rule: its conditions, then what follows."""
    rule = model.rules[place]
    outcome = str(model.classes[rule.outcome])
    if not rule.conditions:
        return [(MARGIN, svg.shortened(f"{'otherwise' if place else 'always'}: {outcome}", ROOM))]
    out: list[Line] = []
    for condition in rule.conditions:
        start = "and" if out else "else if" if place else "if"
        out += _condition(start, model.names[condition.feature], model.condition_text([condition]))
    return [*out, (MARGIN, svg.shortened(f"then {outcome}", ROOM))]


def _condition(start: str, name: str, text: str) -> list[Line]:
    """A condition on one line, or on two: its test below a long name, as rules that hide their tests look alike."""
    whole = f"{start} {text}"
    if svg.text_width(whole) <= ROOM:
        return [(MARGIN, whole)]
    test = text.removeprefix(name).strip()
    return [(MARGIN, svg.shortened(f"{start} {name}", ROOM)), (MARGIN + INDENT, svg.shortened(test, ROOM - INDENT))]


def rule_list(model: DecisionListModel, identity: str) -> Drawing:
    """All rules below each other, each with a bar of its rows."""
    most = max((rule.support or 0.0 for rule in model.rules), default=0.0) or 1.0
    parts: list[str] = []
    y = MARGIN
    for place, rule in enumerate(model.rules):
        titles = [svg.hint(_line(model, place)[0])]
        for x, line in lines(model, place):
            y += LINE
            titles.append(svg.text(x, y - 4, line, "name"))
        parts.append(svg.element("g", "".join(titles)))
        if rule.support is not None:
            parts += _bar(model, rule, y, (ROOM - COUNT) * rule.support / most)
            y += BAR
        y += GAP
    caption = f"{len(model.rules)} rules; the first that fits decides."
    markup = svg.figure(WIDTH, int(y + MARGIN), "Rules", f"{caption} {model.to_text()}", "".join(parts), identity)
    rows = tuple(_line(model, place) for place in range(len(model.rules)))
    return Drawing("Rules", "bars", markup, caption, 1.0, ("rule", "then", "rows", "precision"), rows, wide=True)


def _bar(model: DecisionListModel, rule: ListRule, y: float, length: float) -> list[str]:
    right = length * (rule.precision or 0.0)
    css = "plus" if rule.outcome == len(model.classes) - 1 else "minus"
    hint = f"about {svg.short(rule.support or 0.0)} rows"
    if rule.precision is not None:
        hint += f", of which about {rule.precision:.0%} are {model.classes[rule.outcome]}"
    return [
        svg.rect(MARGIN, y, right, BAR, css, hint),
        svg.rect(MARGIN + right, y, max(length - right, 1.0), BAR, "plain faint", hint),
        svg.text(MARGIN + max(length, 1.0) + 6, y + BAR, _rows(rule), "tick"),
    ]


def _rows(rule: ListRule) -> str:
    share = "" if rule.precision is None else f", {rule.precision:.0%}"
    return f"{svg.short(round(rule.support or 0.0))} rows{share}"


def _line(model: DecisionListModel, place: int) -> tuple[str, ...]:
    rule = model.rules[place]
    conditions = model.condition_text(rule.conditions) or "otherwise"
    support = "" if rule.support is None else svg.short(round(rule.support))
    precision = "" if rule.precision is None else f"{rule.precision:.1%}"
    return (conditions, str(model.classes[rule.outcome]), support, precision)


def draw_halfspace(model: Model) -> ModelCard:
    """The model card of a :class:`HalfspaceModel`."""
    halfspace = cast(HalfspaceModel, model)
    positive = halfspace.classes[-1]
    clipper = halfspace.encoder.clipper
    coefficients = halfspace.noisy_coefficients()
    drawing = weights("Weights", coefficients, "w")
    norm = PublicColumn("(every row)", "norm", f"clipped to length {clipper.norm:.4g}")
    columns: tuple[PublicColumn, ...] = ()
    if isinstance(halfspace.encoder, RowEncoder):
        encoding = halfspace.encoder.encoding
        columns = tuple(public_column(n, e) for n, e in zip(encoding.names, encoding.encoders, strict=True))
    return ModelCard(
        f"A halfspace for “{positive}”: one weight for each of {len(coefficients)} coordinates, and a row is on the "
        "side that its weighted sum says.",
        f"A bar to the right speaks for “{positive}”, a bar to the left against it. Numbers are scaled from their "
        "declared bounds to −1 … 1, a category counts 1 where it holds. The thin line is the noise, two standard "
        "deviations each way: a weight whose line crosses zero may be noise alone.",
        (drawing,),
        (*columns, norm),
    )


OVERVIEW = "What matters most"
"""Title of the drawing that members begin with; the mean has one of its own."""


def draw_mean(model: Model) -> ModelCard:
    """The model card of a :class:`MeanModel` or a :class:`MeanNumberModel`."""
    mean = cast("MeanModel | MeanNumberModel", model)
    last = model_card(mean.members[-1])
    count = len(mean.members)
    batches = "one batch" if count == 1 else f"{count} batches"
    what = "predictions" if isinstance(mean, MeanNumberModel) else "log-odds"
    return ModelCard(
        f"The mean of the {what} of models of {batches} of rows, each learned by itself. The last one: {last.summary}",
        "A model counts by the released number of its rows. Drawn is that of the last batch; the model file holds all "
        f"of them. {last.reading}",
        (*_importance(mean), _batches(mean), *(one for one in last.drawings if one.title != OVERVIEW)),
        last.public,
        last.label,
    )


def _batches(mean: MeanModel | MeanNumberModel) -> Drawing:
    names = [f"batch {number + 1}" for number in range(len(mean.members))]
    shares = [float(share) for share in mean.shares]
    return ranking("How much each batch counts", names, shares, "batches", "By released numbers of rows.")


def _importance(mean: MeanModel | MeanNumberModel) -> list[Drawing]:
    """The size of every part, on average over the models; none where models do not say."""
    sizes: defaultdict[str, float] = defaultdict(float)
    for member, share in zip(mean.members, mean.shares, strict=True):
        for name, size in getattr(member, "importance", dict)().items():
            sizes[name.replace(" x ", " × ")] += float(share) * size
    if not sizes:
        return []
    ordered = dict(sorted(sizes.items(), key=lambda item: -item[1]))
    caption = "Typical size of the effect over the rows, on average over all batches."
    return [ranking(OVERVIEW, list(ordered), list(ordered.values()), "overview", caption)]


def draw_words(model: Model) -> ModelCard:
    """The model card of a :class:`RuleModel`, a :class:`ComposedModel` or a :class:`VoteModel`."""
    columns = tuple(public_columns(model).values())
    if isinstance(model, RuleModel):
        return ModelCard(
            f"A concept over {_count(len(columns), 'column')}.", f"It says {model.to_text()}.", (), columns
        )
    if isinstance(model, ComposedModel):
        members = "; ".join(f"x{i + 1}: {_words(member)}" for i, member in enumerate(model.members))
        reading = f"It says {model.classes[1]} if {model.text}, else {model.classes[0]}, where {members}."
        return ModelCard(f"A function of {_count(len(model.members), 'learned model')}.", reading, (), columns)
    assert isinstance(model, VoteModel)
    kinds = ", ".join(sorted({member.kind.replace("_", " ") for member in model.members}))
    reading = f"It says {model.classes[1]} where at least half of them do; the model file holds each of them ({kinds})."
    return ModelCard(f"A majority vote of {_count(len(model.members), 'model')}.", reading, (), columns)


def public_columns(model: Model) -> dict[str, PublicColumn]:
    """What was public about the columns of a model, or of the models that it is made of."""
    if isinstance(model, RuleModel):
        pairs = zip(model.names, model.encoders, strict=True)
        return {name: public_column(name, encoder) for name, encoder in pairs}
    if not isinstance(model, ComposedModel | VoteModel):
        return {column.name: column for column in model_card(model).public}
    columns: dict[str, PublicColumn] = {}
    for member in model.members:
        columns |= public_columns(member)
    return columns


def _words(model: Model) -> str:
    return model.text if isinstance(model, RuleModel) else f"a model of the kind “{model.kind.replace('_', ' ')}”"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
