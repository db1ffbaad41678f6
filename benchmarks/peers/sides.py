"""How each side is started in its own process: a function of the model folders, which returns a function of a case."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Folders = dict[str, str]
Case = dict[str, Any]  # of `cases.make_case`, as JSON
Result = list  # of lists of fills, or of scores
Start = Callable[[Folders], Callable[[Case], Result]]


def start_fill(context: str, order: str, per_pass: int) -> Start:
    """Return how this library is started to fill so many tokens a pass."""

    def start(folders: Folders) -> Callable[[Case], Result]:
        from blankfill import Filler

        filler = Filler(folders["masked"], device="cpu", context=context, order=order, per_pass=per_pass)
        return lambda case: filler(case["texts"], _spans(case)).fills

    return start


def start_score(kind: str, **settings: Any) -> Start:
    """Return how this library is started to score whole texts; the results are minus log-likelihoods."""

    def start(folders: Folders) -> Callable[[Case], Result]:
        from blankfill import Filler

        filler = Filler(folders[kind], device="cpu")
        return lambda case: [likelihood.nats for likelihood in filler.score(case["texts"], **settings)]

    return start


def _spans(case: Case) -> list[list[tuple[int, int]]]:
    return [[(start, end) for start, end in spans] for spans in case["blanks"]]


def start_fill_mask(folders: Folders) -> Callable[[Case], Result]:
    """Return the loop that users write over the pipeline: one blank at a time, from the left, the others masked."""
    from transformers import pipeline

    pipe: Any = pipeline("fill-mask", model=folders["masked"], device="cpu", top_k=1)
    mask = pipe.tokenizer.mask_token

    def run(case: Case) -> Result:
        fills = []
        for text, places in zip(case["texts"], case["places"], strict=True):
            words, written = text.split(" "), []
            for place in places:
                words[place] = mask
            for place in places:
                first = pipe(" ".join(words))[0]
                best = first[0] if isinstance(first, list) else first
                words[place] = best["token_str"]
                written.append(best["token_str"])
            fills.append(written)
        return fills

    return run


def start_nlpaug(folders: Folders) -> Callable[[Case], Result]:
    """Return nlpaug's augmenter by a masked model, at the blanks that it is given in place of words of its own draw."""
    import nlpaug.augmenter.word as naw

    augmenter = naw.ContextualWordEmbsAug(
        model_path=folders["masked"], model_type="bert", aug_p=1.0, aug_max=None, top_k=1, device="cpu"
    )

    def run(case: Case) -> Result:
        waiting = iter(case["places"])
        augmenter._get_aug_idxes = lambda tokens: [*next(waiting)]
        texts = augmenter.augment(case["texts"])
        pairs = zip((text.split(" ") for text in texts), case["places"], strict=True)
        return [[words[place] if place < len(words) else "" for place in places] for words, places in pairs]

    return run


def start_textattack(folders: Folders) -> Callable[[Case], Result]:
    """Return TextAttack's masked-LM transformation (bae): each word alone, with the originals of the others in sight.

    It reads a list of stopwords when it is imported, which this transformation does not use: an empty one stands there.
    """
    nltk_data = Path(folders["masked"]).parent / "nltk_data"
    (nltk_data / "corpora" / "stopwords").mkdir(parents=True, exist_ok=True)
    (nltk_data / "corpora" / "stopwords" / "english").touch()
    os.environ["NLTK_DATA"] = str(nltk_data)
    from textattack.shared import AttackedText
    from textattack.transformations import WordSwapMaskedLM
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    swap = WordSwapMaskedLM(
        method="bae",
        masked_language_model=AutoModelForMaskedLM.from_pretrained(folders["masked"]),
        tokenizer=AutoTokenizer.from_pretrained(folders["masked"]),
        max_candidates=1,
        min_confidence=0.0,
    )

    def run(case: Case) -> Result:
        pairs = zip(case["texts"], case["places"], strict=True)
        choices = [swap._bae_replacement_words(AttackedText(text), places) for text, places in pairs]
        return [[words[0] if words else "" for words in of_text] for of_text in choices]

    return run


def start_minicons_masked(folders: Folders) -> Callable[[Case], Result]:
    """Return minicons' pseudo-log-likelihoods of whole texts, with the sign turned.

    A call reads all masked copies of its texts in one batch (4 GB for 8 texts of 60 words), so it gets one text a call.
    """
    from minicons import scorer

    loaded = scorer.MaskedLMScorer(folders["masked"], "cpu")
    return lambda case: [
        -loaded.sequence_score([text], reduction=lambda x: x.sum(0).item())[0] for text in case["texts"]
    ]


def start_minicons_causal(folders: Folders) -> Callable[[Case], Result]:
    """Return minicons' log-likelihoods of whole texts after [CLS], without the [SEP] at the end, with the sign turned."""
    from minicons import scorer

    loaded = scorer.IncrementalLMScorer(folders["causal"], "cpu")
    return lambda case: [
        -value for value in loaded.sequence_score(case["texts"], reduction=lambda x: x[:-1].sum(0).item())
    ]


SIDES: dict[str, Start] = {
    "joint": start_fill("both", "left_to_right", 1),
    "joint, 16 a pass": start_fill("both", "left_to_right", 16),
    "in sight": start_fill("leaky", "right_to_left", 1),
    "in sight, 16 a pass": start_fill("leaky", "right_to_left", 16),
    "pseudo": start_score("masked", method="pseudo"),
    "causal": start_score("causal"),
    "fill-mask loop": start_fill_mask,
    "nlpaug": start_nlpaug,
    "textattack": start_textattack,
    "minicons masked": start_minicons_masked,
    "minicons causal": start_minicons_causal,
}
