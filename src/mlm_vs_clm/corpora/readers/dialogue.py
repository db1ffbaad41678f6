"""The JSON of written conversations between two persons."""

from pathlib import Path

from ...documents import Document
from ...errors import StudyError
from .base import OnMistake, ReaderResult, parse_json, raise_mistake, read_text

RULE = (
    "a document is a conversation, its turns parted by blank lines, the messages of a turn joined by spaces; who wrote a turn is "
    "not kept; the label is the question that opened it; conversations in which one side never wrote are left out"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read {id: {"prompt"?, "messages": [turn]}}, a turn a list of {"text", "sender"}; StudyError for another shape."""
    result = ReaderResult(on_mistake=on_mistake)
    conversations = parse_json(read_text(path), str(path))
    if not isinstance(conversations, dict):
        raise StudyError(f"{path} does not map ids to conversations: fetch it again")
    for number, (id, conversation) in enumerate(conversations.items()):
        result.attempt(_read_conversation, id, conversation, f"{path}, conversation {number}", result)
    return result


def _read_conversation(id: str, conversation: object, where: str, result: ReaderResult) -> None:
    conversation = conversation if isinstance(conversation, dict) else {}
    turns = conversation.get("messages")
    if not isinstance(turns, list) or not all(map(_is_turn, turns)):
        raise StudyError(f"{where}: no turns of messages with text and sender: fetch it again")
    if len({message["sender"] for turn in turns for message in turn}) < 2:
        return result.drop(id, "conversation of one side")
    text = "\n\n".join(" ".join(" ".join(message["text"] for message in turn).split()) for turn in turns)
    prompt = conversation.get("prompt")
    result.add(Document(id, text, labels=(prompt,) if isinstance(prompt, str) else ()), where=where)


def _is_turn(turn: object) -> bool:
    return isinstance(turn, list) and all(
        isinstance(message, dict) and all(isinstance(message.get(key), str) for key in ("text", "sender"))
        for message in turn
    )
