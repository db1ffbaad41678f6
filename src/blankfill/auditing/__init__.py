"""What generated texts and a model give away of the texts that the model was trained on."""
