"""A stream: predictions made row by row, under one epsilon for all of them."""

import numpy as np

from tacit.online import Winnow

generator = np.random.default_rng(3)
rows = 2 * generator.integers(0, 2, (40_000, 200), dtype=np.int8) - 1
labels = np.where((rows[:, [3, 50, 120]] > 0).any(axis=1), 1, -1)
model = Winnow(epsilon=1.0, horizon=40_000, labels=(-1, 1))
for start in range(0, len(rows), 10_000):
    wrong = 0
    for first in range(start, start + 10_000, 100):
        part = slice(first, first + 100)
        wrong += int((model.predict_many(rows[part]) != labels[part]).sum())
        model.learn_many(rows[part], labels[part])
    print(f"rows {start:>6,} to {start + 10_000:>6,}: {wrong / 100:4.1f} % wrong")
print(f"epsilon {model.certificate_.epsilon:g}, for the whole stream")
