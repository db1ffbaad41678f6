"""How each kind of model fills the slots of a text."""
