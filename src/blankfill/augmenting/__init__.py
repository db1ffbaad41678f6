"""New texts from labelled ones: some words are replaced by what a model writes, and the labels move with the text."""
