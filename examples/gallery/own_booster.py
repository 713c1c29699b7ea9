"""Your own weak learner under a boosting measure of the library: noisy centres of the rows that are still wrong."""

import numpy as np

from tacit.boosting import LazyBregman, boost, private_rows

generator = np.random.default_rng(5)
X = generator.normal(size=(8000, 30))
X /= np.linalg.norm(X, axis=1, keepdims=True)
y = (X @ generator.normal(size=30) > 0).astype(int)


class Halfspaces:
    """A hypothesis moves the margin of a row by its clipped inner product."""

    def __init__(self, log):
        self.append = log.add


class Centering:
    """The weak learner: the noisy average of y x under the measure."""

    def learn(self, curator, measure, hypotheses):
        noisy = curator.measure(measure.weighted_sum(log, len(hypotheses), 100.0), charge, "a centre").value
        return noisy / np.linalg.norm(noisy)


with private_rows(X[:6000], y[:6000], row_norm=1.0, epsilon=1.0) as rows:
    log, charge = rows.log(), rows.charge(0.01)
    measure = LazyBregman(0.2, 0.2, rows.count(0.01))
    ensemble = boost(rows.budget.curator, Halfspaces(log), measure, Centering(), 99)

for rounds in (1, 10, 99):
    mean = np.mean(ensemble.hypotheses[:rounds], axis=0)
    print(f"rounds: {rounds:>2}, {np.mean((X[6000:] @ mean > 0) != y[6000:]):.1%} wrong")
