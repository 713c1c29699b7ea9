"""A hospital: readmissions within thirty days, as a list of rules that fits on a card."""

from tacit import DecisionListClassifier
from tacit.examples import hospital

X, y, schema = hospital()
model = DecisionListClassifier(epsilon=2.0, schema=schema).fit(X, y)
print(model.model_.to_text())
print(f"for {model.certificate_.protected}: epsilon {model.certificate_.epsilon:g}")
