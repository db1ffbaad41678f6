"""What each stage does with its inputs, and the store that calls it. What a stage needs is imported when it runs."""

from pathlib import Path

from blankfill.memory import reuse_freed_memory

from ..corpora import SOURCES, Cutting, Sizes, build, save
from ..corpora.building import own_source
from ..corpora.packages import locate, member
from ..corpora.readers.files import fingerprint
from ..errors import StudyError
from ..hardware import choose_device, explain_out_of_memory, training_threads
from .artifacts import Make, Runtime, Store
from .model_stages import make_budget, make_model, make_start, silence_libraries
from .text_stages import OWN_DEVICE, make_corruption, make_generation, use_threads

WORDNET = Path("nltk", "corpora", "wordnet")  # in the data folder
GRAMMAR = "package:distilbert"  # of grammar_errors: what the encoder of BERTScore was tuned to be


def make_corpus(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Read, cut, split and describe."""
    name = settings["name"]
    if "path" in settings:
        source, files = own_source(name, settings), {"": Path(settings["path"])}
    else:
        source, data = SOURCES[name], Path(runtime.data_dir)
        files = {
            official: member(data, path, sha256, source.packages)
            for official, (path, sha256) in source.files.items()
        }
    cutting = Cutting(settings["window_words"], settings["min_words"], settings["seed"])
    is_lenient = settings.get("skip_mistakes", False)
    corpus = build(source, files, Sizes(**settings["sizes"]), cutting, is_lenient)
    if settings.get("sha256") and fingerprint(Path(settings["path"])) != settings["sha256"]:
        raise StudyError(f"{settings['path']} changed while it was read: run the same command again")
    save(corpus, folder)


def make_scores(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> dict:
    """Score a cell; the record keeps the hash of the rules, so that a later change of the rules shows."""
    from ..metrics.measures import ENCODER, TAGGER, Resources, list_read
    from .scoring import score_cell

    data, read = Path(runtime.data_dir), list_read(settings["metrics"])
    name = Path(settings["encoder"]).name if "sha256" in settings else settings["encoder"]
    resources = Resources(
        wordnet=data / WORDNET,
        encoder=inputs.get("encoder") or (locate(settings["encoder"], data) if ENCODER in read else ""),
        encoder_name=name,
        layers=settings["layer"],
        precision=settings["precision"],
        device=choose_device(runtime.device),
        language_model=inputs.get("language_model", Path()),
        language_model_name=settings.get("language_model", ""),
        tagger=Path(locate(GRAMMAR, data)) if TAGGER in read else Path(),
        tagger_name=GRAMMAR,
    )
    use_threads(runtime)
    with explain_out_of_memory("scoring", OWN_DEVICE):
        score_cell(settings, inputs, folder, resources)
    return {"rules": runtime.rules}


def make_utility(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Train task models and test them; of linear ones torch is not loaded."""
    from .downstream import measure_utility

    if "network" not in inputs:
        return measure_utility(settings, inputs, folder)
    silence_libraries()
    device = choose_device(runtime.device)
    with (
        training_threads(device, runtime.threads),
        explain_out_of_memory("fine-tuning", "lower finetuning.batch_examples"),
    ):
        measure_utility(settings, inputs, folder, device)


def make_disclosure(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Measure what the text of a cell gives away, and its model where the settings ask for it."""
    from .disclosure import measure_disclosure

    silence_libraries()
    use_threads(runtime)
    with explain_out_of_memory("measuring what texts give away", OWN_DEVICE):
        measure_disclosure(settings, inputs, folder, choose_device(runtime.device))


def make_report(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Write the tables, figures and page of a study."""
    from .collect import write_report

    write_report(settings, inputs, folder, Path(runtime.data_dir) / WORDNET)


def make_correlation(settings: dict, inputs: dict[str, Path], folder: Path, runtime: Runtime) -> None:
    """Relate quality to utility over all cells."""
    from .collect import correlate_cells

    correlate_cells(settings, inputs, folder)


MAKERS: dict[str, Make] = {
    "corpus": make_corpus,
    "start": make_start,
    "budget": make_budget,
    "pretrain": make_model,
    "corrupt": make_corruption,
    "generate": make_generation,
    "score": make_scores,
    "downstream": make_utility,
    "disclosure": make_disclosure,
    "correlate": make_correlation,
    "report": make_report,
}


def open_store(root: Path, runtime: Runtime | None = None) -> Store:
    """Return the store of artifacts under `root`."""
    reuse_freed_memory()
    return Store(root, MAKERS, runtime)
