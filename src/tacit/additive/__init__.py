"""The flagship: private boosting of an additive model over public bins."""
