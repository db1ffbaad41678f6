"""BERTScore (bert-score) with each distinct text embedded once, and long texts split into windows instead of truncated."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import numpy as np

from ..errors import StudyError
from ..hardware import PRECISIONS
from .metric import PRE_SPLIT, Metric, mean_statistics, normalise

BATCH = 16
N_PAIRS = 256
N_REMEMBERED_TOKENS = 1 << 16
UNKNOWN = ("[UNK]", "<unk>")
LEAST = 12  # tokens of a window: a character may be six, and two open and close a text
MOST_UNKNOWN = 0.1  # of a text's tokens: two texts of [UNK] would be equal


def make_bertscore(encoder: "Encoder") -> Metric:
    """Return BERTScore F1, 0-1 (not rescaled, no idf); NaN where a text is empty or unknown to the encoder."""
    return Metric(
        lambda candidates, references: score_documents(encoder, candidates, references),
        lambda: f"BERTScore|{PRE_SPLIT}|f1|mean|{encoder.signature}|idf:no|rescale:no|scale:0-1",
        encoder.explain,
    )


def score_documents(encoder: "Encoder", candidates: list[str], references: list[str]) -> np.ndarray:
    """Return rows (F1, 1) of each pair; a NaN row where either is empty or unknown. StudyError: no encoder."""
    pairs = list(zip(candidates, references, strict=True))
    chunks = (pairs[start : start + N_PAIRS] for start in range(0, len(pairs), N_PAIRS))
    return mean_statistics(value for chunk in chunks for value in _score_chunk(encoder, chunk))


def _score_chunk(encoder: "Encoder", pairs: list[tuple[str, str]]) -> list[float]:
    filled = [pair for pair in pairs if all(pair)]
    embedded = encoder.embed({text for pair in filled for text in pair})
    encoder.remember(embedded, {reference for _, reference in filled})
    return [match(embedded[pair[0]], embedded[pair[1]]) if all(pair) else np.nan for pair in pairs]


def match(candidate: tuple, reference: tuple) -> float:
    """Return F1 of two embedded texts, each (vectors (t, d), weights (t)); NaN if one has no token of its own."""
    import torch
    from bert_score.utils import greedy_cos_idf

    if not candidate[1].any() or not reference[1].any():
        return float("nan")
    arguments = []
    for vectors, weights in (reference, candidate):
        arguments += [vectors[None].clone(), torch.ones(1, len(vectors)), weights[None].clone()]
    return float(greedy_cos_idf(*arguments)[2])


class Encoder:
    """A local folder or hub id of an encoder, loaded when first used, cut after layer `layers`.

    `precision` is a key of hardware.PRECISIONS. Texts of equal token count share a batch, so there is no
    padding, and a text's vectors do not depend on its neighbours, in either precision.
    """

    def __init__(self, source: str | Path, name: str, layers: int, precision: str, device: str):
        self.source, self.name, self.layers = source, name, layers
        self.precision, self.device = precision, device
        self.is_low = PRECISIONS[precision] == "bfloat16"
        self.remembered: OrderedDict[str, tuple] = OrderedDict()

    @cached_property
    def folder(self) -> Path:
        """The folder itself, or that of the files of this id in the hub's cache."""
        from blankfill.networks.folders import check_model_files, is_place

        if is_place(self.source):
            check_model_files(Path(self.source))
            return Path(self.source)
        from huggingface_hub import snapshot_download

        patterns = ["*.json", "*.txt", "*.model", "*.safetensors"]
        try:
            return Path(snapshot_download(str(self.source), allow_patterns=patterns))
        except (OSError, ValueError) as error:
            raise StudyError(
                f"BERTScore's encoder {self.source} is neither a folder nor available on the hub "
                f"({type(error).__name__}): run `make data`, or give a folder"
            ) from error

    @cached_property
    def signature(self) -> str:
        """Name, weights, layer and precision; no local path."""
        return (
            f"encoder:{self.name}|sha256:{hash_weights(self.folder)}|layer:{self.layers}|{PRECISIONS[self.precision]}"
            f"|windows:halved|bert-score:{version('bert-score')}"
        )

    @cached_property
    def model(self):
        """The encoder without the layers above `layers`, on its device."""
        from transformers import AutoModel, PreTrainedModel

        from blankfill.networks.checkpoints import read_config, read_network, refuse_missing
        from blankfill.networks.folders import list_missing, refuse_mismatched
        from blankfill.networks.linear import prepack

        config = read_config(self.folder, "encoder")
        if not 1 <= self.layers <= config.num_hidden_layers:
            raise StudyError(
                f"BERTScore's layer {self.layers} is not in encoder {self.name}: "
                f"choose 1 to {config.num_hidden_layers}"
            )
        config.num_hidden_layers = self.layers
        with _quiet():
            model, report = read_network(AutoModel, self.folder, "BERTScore", config=config, dtype="float32")
        refuse_mismatched(report, self.folder)
        # The pooler is not used.
        lacks = [name for name in list_missing(model, report) if not name.startswith("pooler.")]
        refuse_missing(lacks, "BERTScore", self.folder)
        encoder = model.get_encoder() if config.is_encoder_decoder else model
        if not isinstance(encoder, PreTrainedModel):
            raise StudyError(
                f"{self.folder}: {config.model_type} has no encoder of its own: set is_encoder_decoder to false"
            )
        model = encoder.eval().to(self.device)
        return prepack(_round_matrices(model) if self.is_low else model)

    @cached_property
    def tokenizer(self):
        """The encoder's tokenizer, its limit set to the positions of the model."""
        from blankfill.networks.checkpoints import load_tokenizer

        tokenizer = load_tokenizer(self.folder)
        n_positions = getattr(self.model.config, "max_position_embeddings", 512)
        limit = tokenizer.model_max_length
        if not isinstance(limit, int | float) or not min(limit, n_positions - 2) >= LEAST:
            raise StudyError(
                f"BERTScore's encoder in {self.folder}: model_max_length {limit} and {n_positions} positions leave no room "
                f"for {LEAST} tokens: take the files of the model itself"
            )
        tokenizer.model_max_length = min(limit, n_positions - 2)
        return tokenizer

    def embed(self, texts: Iterable[str]) -> dict[str, tuple]:
        """Return the vectors (t, d) and weights (t; 0 at the two end tokens, else 1) of each text.

        All weights are 0 where more than MOST_UNKNOWN of the text's tokens are unknown: such a text has no score.
        """
        import torch

        windows = {text: self.cut_windows(text) for text in sorted(texts) if text not in self.remembered}
        vectors = self.encode({tuple(window) for of_text in windows.values() for window in of_text})
        ends = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
        embedded = {text: self.remembered[text] for text in texts if text in self.remembered}
        for text, of_text in windows.items():
            weights = torch.tensor([float(token not in ends) for window in of_text for token in window])
            weights *= self.share_unknown(of_text) <= MOST_UNKNOWN
            embedded[text] = torch.cat([vectors[tuple(window)] for window in of_text]), weights
        return embedded

    def share_unknown(self, windows: list[list[int]]) -> float:
        """Return the share (0-1) of unknown tokens in windows of token ids, end tokens aside."""
        ends = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
        tokens = [token for window in windows for token in window if token not in ends]
        return tokens.count(self.tokenizer.unk_token_id) / len(tokens) if tokens else 0.0

    def explain(self, *texts: list[str]) -> str:
        """Return why texts have no score if it is because the encoder does not know them, else ""."""
        windows = [window for text in {*chain(*texts)} if text for window in self.cut_windows(text)]
        share = self.share_unknown(windows)
        if share <= MOST_UNKNOWN:
            return ""
        return (
            f"{share:.0%} of the tokens are unknown to the encoder {self.name}: "
            "choose one of the texts' language (scoring.encoder)"
        )

    def cut_windows(self, text: str) -> list[list[int]]:
        """Return the token ids of a text; one that is too long is halved at a word boundary until each part fits."""
        ids = self.tokenizer.encode(text, verbose=False, split_special_tokens=True)
        if len(ids) <= self.tokenizer.model_max_length:
            return [ids]
        words = text.split()
        units, separator = (words, " ") if len(words) > 1 else (list(text), "")
        halves = units[: len(units) // 2], units[len(units) // 2 :]
        return [window for half in halves for window in self.cut_windows(separator.join(half))]

    def encode(self, windows: set[tuple[int, ...]]) -> dict:
        """Return the vectors (t, d) of each window, in batches of equal length."""
        by_length: dict[int, list] = {}
        for window in sorted(windows):
            by_length.setdefault(len(window), []).append(window)
        vectors: dict = {}
        for group in by_length.values():
            for start in range(0, len(group), BATCH):
                batch = group[start : start + BATCH]
                vectors.update(zip(batch, self._encode_batch(batch), strict=True))
        return vectors

    def _encode_batch(self, batch: list[tuple[int, ...]]):
        import torch
        from bert_score.utils import bert_encode

        from blankfill.networks.attention import NAME as FAST
        from blankfill.networks.attention import attention_of

        ids = torch.tensor(batch, device=self.device)
        kind, low = torch.device(self.device).type, self.is_low
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=low), attention_of(self.model, FAST):
            vectors = bert_encode(self.model, ids, torch.ones_like(ids)).float().cpu()
        if not vectors.isfinite().all():
            raise StudyError(
                f"BERTScore's encoder {self.name} gives no finite numbers: its weights are damaged, or its precision is too low"
            )
        return vectors

    def remember(self, embedded: dict[str, tuple], references: set[str]) -> None:
        """Keep the references, which all arms share; the longest unused go first."""
        for text in sorted(references):
            self.remembered[text] = embedded[text]
            self.remembered.move_to_end(text)
        n_tokens = sum(len(weights) for _, weights in self.remembered.values())
        while n_tokens > N_REMEMBERED_TOKENS:
            _, (_, weights) = self.remembered.popitem(last=False)
            n_tokens -= len(weights)


def note_unknown(folder: Path, name: str, texts: list[str]) -> str:
    """Return the share of tokens of texts that are unknown to an encoder, and what follows; "" without tokenizer.json.

    Its model is not read. A tokenizer of bytes knows every text, whatever the language of its model.
    """
    from tokenizers import Tokenizer

    if not (folder / "tokenizer.json").is_file():
        return ""
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the class that the library raises for a wrong file
        raise StudyError(
            f"{folder / 'tokenizer.json'} cannot be read as a tokenizer: copy it again"
        ) from error
    tokenizer.no_truncation()
    encoded = tokenizer.encode_batch([normalise(text) for text in texts], add_special_tokens=False)
    tokens = [token for encoding in encoded for token in encoding.tokens]
    share = sum(token in UNKNOWN for token in tokens) / max(len(tokens), 1)
    is_foreign = share > MOST_UNKNOWN
    scored = "BERTScore, MMD and C2ST are missing for texts" if is_foreign else "no score for a text"
    return f"{share:.1%} of the tokens are unknown to {name}; {scored} with more than {MOST_UNKNOWN:.0%}"


def _round_matrices(model):
    """Round the matrices that autocast would round again for every batch; all else stays in float32."""
    import torch

    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.to(torch.bfloat16)
    return model


@contextmanager
def _quiet():
    """Silence the warning about the layers that are left out on purpose."""
    from transformers.utils import logging

    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def hash_weights(folder: Path) -> str:
    """Return the first 12 hex digits of the sha256 of the folder's safetensors. StudyError if it has none."""
    paths = sorted(folder.glob("*.safetensors"))
    if not paths:
        raise StudyError(f"BERTScore's encoder in {folder} has no *.safetensors: give a folder that has")
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
