"""Where weights come from: a hub id, a local folder, a GGUF file or int8 ONNX graphs; always stored as safetensors."""

import io
import json
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    MODEL_FOR_MASKED_LM_MAPPING,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from blankfill.networks.checkpoints import (
    AUTO_CLASSES,
    CLASS_NAMES,
    check_kind,
    find_reason,
    load_model,
    load_tokenizer,
    read_config,
    read_network,
    read_tokenizer,
    refuse_missing,
)
from blankfill.networks.families import family_of
from blankfill.networks.folders import check_fit, check_size, list_missing, refuse_unfetched

from ..errors import StudyError
from ..files import write_atomically
from .onnx import TAGGER_GRAPH, read_distilbert
from .starts import as_bert, as_kind, keep_lower_layers, see_both_sides

START_INFO = "start.json"
Read = tuple[PreTrainedModel, PreTrainedTokenizerBase, list[str]]  # and the names of weights that are new


@dataclass(frozen=True)
class StartInfo:
    """A stored checkpoint: its kind, whether its output layer is new (the source had none), the hub's commit."""

    kind: str
    has_new_head: bool
    commit: str | None = None


def start_from_checkpoint(
    source: Path | str,
    kind: str,
    seed: int,
    revision: str | None = None,
    opening: str | None = None,
    bidirectional: bool = False,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, StartInfo]:
    """Return a pretrained model of that kind (float32, without dropout) and its tokenizer, to be stored.

    `source` is a hub id (at `revision`), a folder with config.json, safetensors and tokenizer, a `.gguf` file, or a
    folder with the int8 graph of a DistilBERT (tagger.onnx). A masked model may lack an output layer, which is then
    drawn from `seed` and recorded. `opening` is the token that opens a text where the tokenizer's own is not meant for
    that. With `bidirectional` a causal checkpoint becomes a masked model. Raises StudyError for a source that cannot be
    read, or of another kind, and for an `opening` that its tokenizer lacks.
    """
    read = next((read for fits, read in CHECKPOINT_READERS if fits(Path(source))), None)
    model, tokenizer, new = (
        read(Path(source), seed)
        if read
        else _from_pretrained(source, "causal" if bidirectional else kind, seed, revision)
    )
    if bidirectional:
        check_kind(model, "causal", str(source))
        see_both_sides(model, tokenizer)
    check_kind(model, kind, str(source))
    embeddings: Any = model.get_input_embeddings()
    check_size(tokenizer, len(embeddings.weight), source)
    if kind == "masked" and tokenizer.mask_token_id is None:
        raise StudyError(
            f"{source}: the tokenizer has no mask token, and a masked model needs one: give its own"
        )
    model.config._name_or_path = ""
    _turn_off_dropout(model.config)
    if opening:
        if opening not in tokenizer.get_vocab():
            raise StudyError(f"model.opening={opening} is no token of {source}: give one of its own")
        tokenizer.bos_token = opening
    _pad(model, tokenizer)
    return model.eval(), tokenizer, StartInfo(kind, bool(new), getattr(model.config, "_commit_hash", None))


def start_from_encoder(
    folder: Path | str, seed: int, is_new: bool = False, layers: int = 0
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return the lower `layers` (0: all) of a BERT-class encoder with a new head tied to its embeddings, and its tokenizer.

    The head is drawn from `seed`, and where `is_new` all weights, in the shape of the encoder; dropout is off, as every
    example is seen about once. The int8 graph of a DistilBERT (tagger.onnx) is read as the BERT that it is.
    """
    is_graph = (Path(folder) / TAGGER_GRAPH).is_file()
    model, tokenizer = (_read_graph if is_graph else _read_encoder)(folder, seed, is_new)
    keep_lower_layers(model, layers)
    return model, tokenizer


def _read_graph(
    folder: Path | str, seed: int, is_new: bool
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    distilled, tokenizer, _ = read_distilbert(Path(folder), seed)
    model = as_bert(distilled, seed)
    _turn_off_dropout(model.config)
    torch.manual_seed(seed)
    return type(model)(model.config) if is_new else model, tokenizer


def _read_encoder(
    folder: Path | str, seed: int, is_new: bool
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    tokenizer = load_tokenizer(folder)
    config: Any = read_config(folder, "masked")
    if not family_of(config).parts:
        raise StudyError(
            f"{folder}: the matched track starts from a BERT-class encoder, this is {config.model_type}"
        )
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    torch.manual_seed(seed)
    network: Any = MODEL_FOR_MASKED_LM_MAPPING[type(config)]
    if is_new:
        return network(config), tokenizer
    read, report = read_network(network, folder, "masked", config=config, dtype=torch.float32)
    model: Any = read
    check_fit(model, report, folder)
    _new_head(model, list_missing(model, report), "masked", folder)
    return model, tokenizer


def save_start(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, info: StartInfo, folder: Path
) -> None:
    """Store a checkpoint as safetensors, with its tokenizer and start.json."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_atomically(folder / START_INFO, json.dumps(asdict(info), indent=1))


def read_start_info(folder: Path) -> StartInfo | None:
    """Return the start.json of a stored initial checkpoint; None for the matched start, which has none."""
    path = folder / START_INFO
    return StartInfo(**json.loads(path.read_text())) if path.is_file() else None


def load_start(folder: Path, kind: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Return the stored initial checkpoint as a model of that kind; the matched start is converted to it."""
    if read_start_info(folder):
        return load_model(folder, kind)
    return as_kind(load_model(folder, "masked"), kind, tokenizer)


def refuse_new_head(folder: Path, arm: str) -> None:
    """Raise StudyError where an arm would use an output layer that was never trained."""
    info = read_start_info(folder)
    if info is None or info.has_new_head:
        raise StudyError(
            f"arm {arm} uses the checkpoint without training, but it has no language-modelling head: "
            "choose a model with one (model=bert, gpt2, smollm2, ...)"
        )


def _turn_off_dropout(config: PreTrainedConfig) -> None:
    """Set every dropout rate to 0, or micro-batches would change the model under the same id."""
    for name, value in list(vars(config).items()):
        if isinstance(value, PreTrainedConfig):
            _turn_off_dropout(value)
        elif "drop" in name and isinstance(value, float):
            setattr(config, name, 0.0)


def _from_pretrained(source: Path | str, kind: str, seed: int, revision: str | None) -> Read:
    options: dict[str, Any] = {"revision": revision} if revision else {}
    config = read_config(source, kind, **options)
    _check_type(config, kind, source)
    torch.manual_seed(seed)
    model, report = read_network(
        AUTO_CLASSES[kind], source, kind, config=config, dtype=torch.float32, **options
    )
    check_kind(model, kind, str(source))
    check_fit(model, report, source)
    return (
        model,
        read_tokenizer(source, **options),
        _new_head(model, list_missing(model, report), kind, source),
    )


def _check_type(config, kind: str, source: Path | str) -> None:
    """Raise StudyError for a type of network that can never be of that kind."""
    fits = kind == "seq2seq" if config.is_encoder_decoder else config.model_type in CLASS_NAMES.get(kind, ())
    if not fits:
        raise StudyError(
            f"{source}: a {config.model_type} checkpoint is not a {kind} model: "
            f"choose another model for this arm, or an arm for this model"
        )


def _new_head(model: PreTrainedModel, missing: list[str], kind: str, source: Path | str) -> list[str]:
    """Return the new matrices of the output layer; raises StudyError where others are missing."""
    head = family_of(model.config).head if kind == "masked" else ()
    refuse_missing([name for name in missing if name.split(".")[0] not in head], kind, source)
    return missing


def _pad(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Pad with EOS where a tokenizer has no padding token."""
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    configs: list[Any] = [model.config, model.generation_config] if model.can_generate() else [model.config]
    for config in configs:
        config.pad_token_id = tokenizer.pad_token_id
        if tokenizer.bos_token:
            config.bos_token_id = tokenizer.bos_token_id


def _read_gguf(path: Path, seed: int) -> Read:
    """Return the causal model of a GGUF file, copied into a new one, as a quantised one cannot be saved."""
    if not path.is_file():
        raise StudyError(f"{path} is not a file: give a GGUF file, or a folder with another ending")
    refuse_unfetched(path)
    options: dict[str, Any] = {"gguf_file": path.name}
    try:
        load: Any = AutoModelForCausalLM.from_pretrained  # returns two values where it is asked to
        with redirect_stderr(io.StringIO()):  # a progress bar that nothing else turns off
            read, report = load(path.parent, dtype=torch.float32, output_loading_info=True, **options)
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **options)
    except Exception as error:  # of any class: it depends on where the file is damaged
        raise StudyError(f"{path}: cannot be read as a GGUF checkpoint: {find_reason(error)}") from error
    check_fit(read, report, path)
    refuse_missing(list_missing(read, report), "causal", path)
    described = read.config.to_dict()
    described.pop("quantization_config", None)
    model = type(read)(type(read.config).from_dict(described))
    model.load_state_dict(read.state_dict())
    model.tie_weights()
    return model, tokenizer, []


# Sources that transformers does not read from a folder: how each is recognised, and its reader.
CHECKPOINT_READERS = [
    (lambda source: source.suffix == ".gguf", _read_gguf),
    (lambda source: (source / TAGGER_GRAPH).is_file(), read_distilbert),
]
