"""Settings, stages and the store: the only part that knows Hydra and where results lie."""
