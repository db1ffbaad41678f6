"""The library on the command line: each module has `add_arguments(parser)` and `run(options)`, which returns an exit code or None."""

# What each command does, for the list of commands. A command is the module of its name, imported when it is asked for.
COMMANDS = {
    "fill": "fill the blanks of texts, from JSON Lines or plain lines",
    "score": "say how likely a model finds texts, or what stands at some places in them",
    "augment": "write variants of texts in which a model replaces some words, with their labels",
    "audit": "measure what generated texts and a model give away of the training texts",
    "ls": "list the models at hand, and the settings by name",
}
