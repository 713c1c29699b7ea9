"""Three hospitals that share no patient: each fits by itself, and the merged model costs what one of them does."""

import numpy as np

from tacit import AdditiveBoostClassifier, merge
from tacit.examples import hospital

X, y, schema = hospital(12_000)
house = np.array([int(patient[1:]) % 3 for patient in X["patient_id"]])
fits = []
for k in range(3):
    own = house == k
    rows = {name: column[own] for name, column in X.items()}
    fits.append(AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(rows, y[own]))
merged = merge(fits)
print(f"epsilon {merged.certificate_.epsilon:g} for {merged.certificate_.protected}")
merged.plot("age").save("three_hospitals.svg")
