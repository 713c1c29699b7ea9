"""The model card of models that are said in words: a concept, a function of learned models, a vote."""

from __future__ import annotations

from tacit.models.base import Model
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tacit.report.model_card import ModelCard, PublicColumn, model_card, public_column


def draw(model: Model) -> ModelCard:
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
