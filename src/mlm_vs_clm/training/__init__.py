"""Training: objectives, batches, loss, loop, and where the first weights come from."""
