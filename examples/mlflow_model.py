"""A model of tacit in MLflow, with its promise as tags: python mlflow_model.py model.json

MLflow keeps this file and the model file, and no pickle; it serves them with tacit-predict.
"""

import sys
from pathlib import Path

import mlflow
import pandas as pd

from tacit import load_model


class TacitModel(mlflow.pyfunc.PythonModel):
    """Probabilities of the classes, or a number, for every row of a data frame."""

    def load_context(self, context):
        """Reads the model file and checks its digests."""
        self.model, _ = load_model(context.artifacts["model"])

    def predict(self, context, model_input, params=None):
        """A column per class, or one for the number."""
        rows = {name: model_input[name].to_list() for name in self.model.feature_names}
        if not hasattr(self.model, "classes"):
            return pd.DataFrame({"prediction": self.model.predict(rows)})
        names = [f"proba_{name}" for name in self.model.classes]
        return pd.DataFrame(self.model.predict_proba(rows), columns=names)


def tags(certificate):
    """What was promised, as MLflow shows it."""
    unit, rows = certificate.get("unit_name") or certificate["unit"], certificate["rows_per_unit"]
    return {
        "tacit.epsilon": str(certificate["epsilon"]),
        "tacit.delta": str(certificate["delta"]),
        "tacit.unit": f"one {unit}, at most {rows} row{'s' * (rows > 1)}" if unit else "one row",
        "tacit.releasable": str(certificate["releasable"]),
        "tacit.certificate_sha256": certificate["digest"],
    }


def log(path):
    """Logs a model file in a run of its own, and returns where it is."""
    _, certificate = load_model(path)
    with mlflow.start_run():
        mlflow.set_tags(tags(certificate))
        logged = mlflow.pyfunc.log_model(
            name="model",
            python_model=__file__,
            artifacts={"model": str(Path(path).resolve())},
            pip_requirements=["tacit-predict", "pandas"],
        )
    return logged.model_uri


mlflow.models.set_model(TacitModel())

if __name__ == "__main__":
    print(log(sys.argv[1]))
