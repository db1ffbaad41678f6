"""`python -m mlm_vs_clm <tool>`: what a person calls beside the stages in `experiments/`."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from .errors import READER_GONE, StudyError, lost_reader
from .files import explain_os_error

# Each module offers add_arguments(parser) and run(chosen), which returns an exit code or None.
TOOLS = {
    "data": ("corpora.packages", "fetch the pinned data packages and check their hashes"),
    "bench": ("pipeline.bench", "time filling against a plain fill-mask loop"),
    "verify": ("pipeline.verify", "compare fresh results with the committed ones, number by number"),
    "table": ("pipeline.tabulate", "tabulate and draw stored results: corpus=plots strategy=random"),
    "readme": ("pipeline.readme", "write README's blocks and figure anew from the committed results"),
    "store": ("pipeline.inventory", "list or remove stored artifacts"),
    "grids": ("pipeline.grids", "draw what each training objective sees"),
    "notebooks": ("pipeline.notebooks", "execute the notebooks on one folder of results"),
    "rating-sheet": ("pipeline.rating_sheet", "draw a blinded sample and write the page that raters open"),
    "ratings": ("pipeline.rating_tables", "check and analyse the raters' files"),
    "export-brat": ("pipeline.brat_export", "write generated documents as a brat folder"),
    "score-pan": ("tasks.pan_files", "score answers to authorship problems as PAN does"),
}


class Parser(argparse.ArgumentParser):
    """Reports a mistake in the arguments as one line."""

    def error(self, message: str):
        """Exit with code 2."""
        self.exit(2, f"error: {message} (see {self.prog} --help)\n")


def load_tool(name: str) -> ModuleType:
    """Import the one tool that is asked for: some load torch."""
    return import_module(f"mlm_vs_clm.{TOOLS[name][0]}")


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the tool and its arguments."""
    parser = Parser(prog="python -m mlm_vs_clm", description="Tools beside the stages in experiments/.")
    tools = parser.add_subparsers(dest="tool", required=True)
    for name, (_, summary) in TOOLS.items():
        tool = tools.add_parser(name, help=summary, description=summary)
        if arguments[:1] == [name]:
            load_tool(name).add_arguments(tool)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run a tool and return its exit code; a mistake that a user can fix is one line on stderr."""
    try:
        chosen = read_arguments(sys.argv[1:] if arguments is None else arguments)
        code = load_tool(chosen.tool).run(chosen) or 0
        sys.stdout.flush()  # here a reader that is gone can still be told from a full disk
        return code
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and lost_reader():
            return READER_GONE
        print(f"error: {explain_os_error(error, Path.cwd())}", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
