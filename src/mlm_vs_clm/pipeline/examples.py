"""What every arm wrote into the same blanks, for the page of the report: of corpora that may be shown alone."""

from pathlib import Path

from ..corpora import load_split
from .artifacts import inputs_of
from .cells import describe_cell, load_blanked, load_filled


def gather_examples(
    inputs: dict[str, Path], corpora: list[str], strategy: str = "random", ratio: float = 0.5
) -> list[dict]:
    """Return, for one document of each of the corpora, what every arm wrote into the same blanks."""
    found: dict[str, dict] = {}
    scored = [path for _, path in sorted(inputs.items()) if path.parent.name == "score"]
    for path in scored:
        read = inputs_of(path)
        cell = describe_cell(read)
        if (cell["strategy"], cell["ratio"]) != (strategy, ratio) or cell["corpus"] not in corpora:
            continue
        texts = {d.id: d.text for d in load_split(read["corpus"], "generate")}
        blanked = load_blanked(read["corruption"], texts)
        place = min(range(len(blanked)), key=lambda i: (len(blanked[i].words), blanked[i].id))
        shown, filled = blanked[place], load_filled(read["generation"])[place]
        original = _segments(shown.text, list(shown.words), set(shown.blanks))
        start = {"corpus": cell["corpus"], "strategy": strategy, "ratio": ratio, "document": shown.id}
        example = found.setdefault(cell["corpus"], start | {"original": original, "arms": {}})
        example["arms"][cell["arm"]] = _segments(filled.text, filled.spans, set(shown.blanks))
    return list(found.values())


def _segments(text: str, spans: list, blanks: set[int]) -> list[list]:
    """Return the text as [piece, whether a blank stood there], in order."""
    segments, cursor = [], 0
    for number, span in enumerate(spans):
        if span is None or number not in blanks or span[0] < cursor:
            continue
        segments += [[text[cursor : span[0]], False], [text[span[0] : span[1]], True]]
        cursor = span[1]
    return [segment for segment in [*segments, [text[cursor:], False]] if segment[0]]
