"""Models: where their weights come from, how they are trained, and the kernels that make both fast."""
