"""`pipeline("infill", model=...)` of transformers, once this module is imported."""

from math import exp
from typing import Any, cast

from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM
from transformers.pipelines import PIPELINE_REGISTRY, Pipeline

from .arguments import to_list
from .candidates import Candidate
from .config import FillConfig, types_of_settings
from .filler import MARKER, Filler
from .networks.checkpoints import model_kind

TASK = "infill"


class InfillPipeline(Pipeline):
    """Fills all blanks of a text together, as fill-mask fills one.

    >>> infill = pipeline("infill", model="google-bert/bert-base-uncased")
    >>> infill("Take [MASK] tablets a [MASK].", top_k=3)

    A blank is `marker`, by default the mask token where the text has it, else `___`. For a text returns a list of
    dictionaries, likeliest first: `sequence` (the new text), `score` (the probability of all fills together) and `fills`
    (one per blank); for a list of texts a list of them. `top_k` (5) of them are found by beam search
    (`Filler.candidates`). An encoder-decoder has one answer, with score None. Any setting of `FillConfig` can be given
    but those of sampling.
    """

    _load_processor = False  # type: ignore[assignment]  # their base class has None
    _load_image_processor = False  # type: ignore[assignment]
    _load_feature_extractor = False  # type: ignore[assignment]
    _load_tokenizer = True  # type: ignore[assignment]

    def _sanitize_parameters(self, **settings: Any):
        given = {name: settings.pop(name) for name in ("top_k", "marker") if name in settings}
        before = getattr(self, "_forward_params", {}).get("settings", {})  # of the construction
        own = {name: settings.pop(name) for name in types_of_settings() if name in settings}
        fill_settings = before | own
        FillConfig(**fill_settings).with_settings(**settings)  # raises for what is no setting
        return {}, given | {"settings": fill_settings}, {}

    def preprocess(self, input_: str, **_: Any) -> dict[str, Any]:
        """Return the text as the model is to see it."""
        return {"text": input_}

    def _forward(  # type: ignore[override]
        self, input_tensors: dict, top_k: int = 5, marker: str | None = None, settings: Any = None
    ) -> dict:
        texts = input_tensors["text"]
        listed = [texts] if isinstance(texts, str) else to_list("texts", texts)
        answers = [self._answer(text, top_k, marker, settings or {}) for text in listed]
        return {"answers": answers[0] if isinstance(texts, str) else answers}

    def _answer(self, text: str, top_k: int, marker: str | None, settings: dict[str, Any]) -> list[dict]:
        filler = Filler(self.model, self.tokenizer)
        mask = filler.tokenizer.mask_token
        marker = marker or (mask if mask and mask in text else MARKER)
        if model_kind(self.model) == "seq2seq":
            filled = filler(text, marker, **settings)
            return [{"score": None, "sequence": filled.text, "fills": filled.fills[0]}]
        candidates = cast(list[Candidate], filler.candidates(text, top_k, marker, **settings))
        return [
            {"score": exp(candidate.log_probability), "sequence": candidate.text, "fills": candidate.words}
            for candidate in candidates
        ]

    def postprocess(self, model_outputs: dict, **_: Any) -> list[dict]:
        """Return the answers for a text."""
        return model_outputs["answers"]


class _Masked(AutoModelForMaskedLM):
    """Leaves a decoder of a class that can be both (BERT) to the causal classes."""

    @classmethod
    def from_pretrained(cls, *sources: Any, **options: Any) -> Any:
        model = super().from_pretrained(*sources, **options)
        if getattr(model.config, "is_decoder", False):
            raise ValueError("this is a decoder")  # the pipeline then tries the next class
        return model


PIPELINE_REGISTRY.register_pipeline(
    TASK,
    pipeline_class=InfillPipeline,
    pt_model=(_Masked, AutoModelForCausalLM, AutoModelForSeq2SeqLM),  # type: ignore[arg-type]
    type="text",
)
