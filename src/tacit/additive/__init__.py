"""The default learner: private boosting of an additive model over public bins."""
