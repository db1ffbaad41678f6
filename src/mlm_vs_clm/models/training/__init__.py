"""Training a language model with one objective, resumable to the same bytes."""
