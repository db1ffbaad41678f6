"""How a causal model that was trained to fill in the middle (FIM) does so: it reads what stands before and behind a gap, then writes it."""

from functools import partial

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_values
from ..errors import BlankfillError
from ..networks.evaluation import in_evaluation_mode
from ..networks.sizes import position_limit
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow
from ..slots.vocabulary import special_tokens
from ..text import BlankedText, FilledText, assemble_text, group_adjacent_blanks, leave_unfilled
from .alignment import split_answer
from .causal import count_walks
from .generation import end_tokens
from .kept import TextWalk, plan_text, write_best
from .seq2seq import without_marks
from .walking import walk

# What stands before the text before a gap, before that behind it, and before the answer.
FIM_TOKENS = (
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder, Granite
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen coder, CodeGemma
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),  # Code Llama
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek coder
)
FIM_ENDS = ("<|endoftext|>", "<|fim_pad|>", "<|file_sep|>", "<|file_separator|>", "▁<EOT>", "<fim_pad>")


@in_evaluation_mode
def fill_middle(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    max_new_tokens: int = 32,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the gaps from left to right, each greedily, with a model that was trained to fill in the middle.

    A gap is a group of adjacent blanks. For each, the model reads the text before it with the fills so far, and the kept
    words behind it without the later gaps. It writes until it ends the answer, at most `max_new_tokens` tokens. The words
    of the answer go into the blanks of the gap, one each, the rest into the last; a blank without one gets an empty fill.

    Raises BlankfillError for a tokenizer without the tokens of such a model, DocumentError for a text that has one of its
    special tokens or that leaves no room.
    """
    check_values("middle", {"max_new_tokens": max_new_tokens})
    named = find_fim_tokens(tokenizer)
    before, behind, answer = [tokenizer.get_vocab()[token] for token in named]
    closings, marks = find_ends(model, tokenizer), [*special_tokens(tokenizer), *named]
    opening = [token for token in tokenizer("")["input_ids"][:1] if token == tokenizer.bos_token_id]
    encode = partial(tokenizer.encode, add_special_tokens=False, verbose=False)
    plan = partial(plan_text, n_most=max_new_tokens, limit=position_limit(model), closings=closings)
    for text in blanked:
        without_marks(text, [leave_unfilled(text).text], marks)
    gaps = [group_adjacent_blanks(text) for text in blanked]
    fills: list[dict[int, str]] = [{} for _ in blanked]
    walks: list[TextWalk] = []
    for number in range(max(map(len, gaps), default=0)):
        of_gap = {}
        for i, text in enumerate(blanked):
            if number < len(gaps[i]):
                left, right = split_at(text, gaps[i][number], fills[i])
                ids = [*opening, before, *encode(left), behind, *encode(right), answer]
                of_gap[i] = plan(TokenRow(text.id, ids), ids)
        walk(model, [*of_gap.values()], write_best, batch_tokens)
        for i, document in of_gap.items():
            said = str(tokenizer.decode([token for token in document.written if token not in closings]))
            fills[i] |= zip(gaps[i][number], split_answer(said, len(gaps[i][number])), strict=True)
        walks += of_gap.values()
    filled = [
        assemble_text(text, [words[blank] for blank in text.blanks])
        for text, words in zip(blanked, fills, strict=True)
    ]
    return filled, count_walks(model, blanked, walks)


def find_fim_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[str, str, str]:
    """Return the tokens that stand before both sides of a gap and before its answer; BlankfillError for a tokenizer without."""
    known = tokenizer.get_vocab()
    for tokens in FIM_TOKENS:
        if all(token in known for token in tokens):
            return tokens
    raise BlankfillError(
        "context=fim needs a model that was trained to fill in the middle, and this tokenizer has no tokens for it "
        f"(such as {', '.join(FIM_TOKENS[0])}): use context=left"
    )


def find_ends(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Return the tokens that end an answer: those that end a text, and those of FIM."""
    known = tokenizer.get_vocab()
    named = [known[token] for token in (*FIM_ENDS, *find_fim_tokens(tokenizer)) if token in known]
    ends = (*named, *end_tokens(model), tokenizer.eos_token_id, tokenizer.pad_token_id)
    return frozenset(token for token in ends if token is not None)


def split_at(text: BlankedText, gap: list[int], fills: dict[int, str]) -> tuple[str, str]:
    """Return what is read before a gap, with the fills so far and no space at its end, and behind it, without the later blanks."""
    start, end = text.words[gap[0]][0], text.words[gap[-1]][1]
    return _read(text, fills, 0, start).rstrip(), _read(text, fills, end, len(text.text))


def _read(text: BlankedText, fills: dict[int, str], start: int, end: int) -> str:
    """Return the text between two places with the fills of its blanks; one without a fill goes with the space before it."""
    pieces, cursor = [], start
    for first, last, fill in ((*text.words[blank], fills.get(blank, "")) for blank in text.blanks):
        if start <= first and last <= end:
            before = text.text[cursor:first]
            pieces += [before if fill else before.rstrip(" "), fill]
            cursor = last
    return "".join([*pieces, text.text[cursor:end]])
