"""The data dictionary: what each table of a study is, and the unit and meaning of its columns."""

from mlm_vs_clm.evidence import documents
from mlm_vs_clm.evidence.tables import COLUMNS as TABLE_COLUMNS
from mlm_vs_clm.evidence.tables import KEYS as TABLE_KEYS
from mlm_vs_clm.metrics import MEASURES
from mlm_vs_clm.metrics.measures import ORDERS

COLUMNS = TABLE_COLUMNS | {"documents": documents.COLUMNS}
KEYS = TABLE_KEYS | {"documents": documents.KEYS}

TABLES = {
    "study": "which study this is",
    "scores": "what every arm scored, per cell, scope and metric",
    "signatures": "by which version and settings of a metric the scores were made",
    "downstream": "what task models answer on real test text after training on an arm's text or on a control",
    "understanding": "what networks answer on real test text after fine-tuning on real labelled examples, in a study that fine-tunes",
    "competence": "whether an arm clears the floors of what it sees, per cell and class of blanks",
    "answers": "the verdict on every comparison that a claim asks for",
    "sensitivity": "what the answers would say by margins of half and of twice the size",
    "leads": "what a network adds to the best table of the words on both sides, per cell, whatever it sees itself",
    "variants": "the settings in which variants of an arm differ, in a study that varies settings",
    "findings": "one sentence per panel of a study with a question of its own",
    "sanity": "whether a metric ranks original, competent arms, floors and unfilled text as it should",
    "headroom": "utility as a share of the way from unfilled to real text",
    "comparisons": "paired differences between arms: of texts, as training data, by seed, along the training curve, at equal compute",
    "learning": "scores of an arm at every token budget at which its training kept a model",
    "ledger": "what generation cost, per cell",
    "correlation": "quality against utility over cells",
    "usefulness": "quality and usefulness of each text, in a study with many writers at one masking",
    "writers": "quality against usefulness over the writers at one masking",
    "training": "losses and cost along each training",
    "documents": "what the scores of text are made of, per document of a cell and per document along the curve",
}
FILES = {"study": "study.yaml, under `study`", "documents": documents.FILE}  # what is no CSV file
LOW_HIGH = "end of the 95 % interval of the value beside it"
# By column, or by table.column where a table differs: unit (- for words) and meaning.
WRITTEN = f"""
scale | - | size of the study (conf/scale)
track | - | which models were trained (conf/track)
main_strategy | - | strategy of the main cell, at which arms are compared
starts_from | - | what the models start from, in words; empty where a study has a question of its own
main_ratio | share | ratio of the main cell
rules | - | hash of the rules that decide the claims
corpus | - | corpus whose documents are filled; `overall`: all corpora together
training.corpus | - | corpus whose dev loss the row has
arm | - | what filled the blanks (conf/arm)
objective | - | training objective of the arm's model; `none` for a baseline
context | - | what the arm sees: left, both, kept or none; prefix: left, of which what precedes the first blank from both sides; leaky and true_left: originals of other blanks too
length | - | what it knows of the length of a fill: known, one, free or none
order | - | order in which it fills blanks
understanding.task | - | task: ner, genres, verification, next_sentence or authors
network | - | objective of the network that is fine-tuned, `start`: as it comes, `majority`: the best answer without a network; sides=both: a causal one that now sees both sides
examples | examples | labelled examples that it is fine-tuned on, or that the majority answer was counted from
strategy | - | which words may be hidden (conf/masking); empty for a control
ratio | share | share of eligible words asked to be hidden
share | share | share of all words hidden in fact
seed | - | seed of blanks and draws, and of training where runs are repeated
scope | - | document: the whole text; fills: the blanks alone; utility: a task
metric | - | name of the measure; `_gain`: (score - unfilled) / (oracle - unfilled)
value | of the metric | the score, or the difference first minus second
comparisons.value | of the metric | first minus second, or second minus first where less is better: above 0 the first is ahead
headroom.value | share | (utility - unfilled) / (real - unfilled)
correlation.value | of the statistic | coefficient, standardised slope, count or corrected p
low | of the value | lower {LOW_HIGH}
high | of the value | upper {LOW_HIGH}
n | count | documents, blanks or test units behind the value
signature | - | version and settings of the metric
artifact | - | stored result that the row was read from, <stage>/<id>
reason | - | why a value is missing or limited; empty where nothing is
task | - | downstream task: ner, genres or verification
trained_on | - | text that the task model learned from: an arm, or real, shuffled, majority
word_class | - | blanks that count: all, or content words alone
floor | - | the floor that is cleared least
floor_value | of the metric | score of that floor
leads.floor | - | the word table of both sides with the highest score there
leads.value | of the metric | arm minus that table, paired
times | - | the margin, in margins of the rules
difference | of the metric | arm minus floor, paired
runs | count | trainings, or task models, behind the value
headroom.runs | count | seeds of the texts, or task seeds where the texts have one seed
outcome | - | what is decided: see docs/method.md
claim | - | id of the claim (conf/claims.yaml)
condition | - | the condition of the claim that the row answers
first | - | first side of the comparison
second | - | second side of the comparison
effect | of the metric | first minus second (second minus first of a measure of which less is better), a correlation, a slope, or the logarithm of a ratio of costs
margin | of the metric | a whole interval within it is small
p | - | two-sided p-value, not corrected
answers.p | - | two-sided p-value, Holm-corrected over the comparisons of the claim that may decide
detectable | of the metric | smallest difference that would be found before p is corrected; with training noise where there are several trainings
needs | - | what would settle the row
base | - | arm that the variant is of
setting | - | setting that is varied, by its key on the command line
level | of the setting | its value for this variant
panel | - | figure and table that the sentence is about
title | - | title of the panel
place | - | place of the panel on the page
sentence | - | what the panel shows
oracle_value | of the metric | score of the original text
arm_value | of the metric | score of that arm
unfilled_value | of the metric | score or utility of text without its blanks
above_arms | share | original above the best competent arm, of (oracle - unfilled)
above_floors | share | arm above its floor, of (oracle - unfilled)
above_unfilled | share | lowest floor above unfilled text, of (oracle - unfilled)
utility | of the metric | score of the task model that learned from the arm's text
real_value | of the metric | score of the task model that learned from real text
above | of the metric | arm minus unfilled; its interval has the noise between trainings
above_low | of the metric | lower {LOW_HIGH}
above_high | of the metric | upper {LOW_HIGH}
headroom | of the metric | real minus unfilled
room | - | yes where the headroom is above the detectable difference
comparison | - | name of the comparison
budget | tokens | training tokens at which the model was kept
comparisons.budget | tokens | training tokens of the first arm's model, of curve
budget_second | tokens | training tokens of the second arm's model, of curve
tokens_seen | tokens | tokens read in training up to here
tokens_predicted | tokens | tokens that the loss was taken over up to here
passes | count | times that training had read the corpus
ledger.passes | count | forward passes of the network
comparisons.kind | - | `text` at every masking; at the main cell the others
at | - | of seed: which; of curve: which tokens are equal; of compute: equal documents, or whose compute
method | - | shared by arms that differ in order and pace alone
documents | count | documents filled
document | - | number of the document, in the order of its corpus
unit | - | what a resample draws together: number of the author where authors repeat, else of the document
documents.budget | tokens | budget of the model along the curve; empty for the model that the study uses
exact | count | blanks filled with the original, case aside
documents.blanks | count | blanks of the document
tokens | tokens of BLEU | length of the written text
original_tokens | tokens of BLEU | length of the original
mmd | of the metric | pseudo-value of the document, whose mean is the discrepancy
longest_repeat | words | longest run that occurs twice in the document
nats | nats | minus the log-likelihood of the hidden words under the arm
characters | count | characters of the hidden words
nonwords | count | words of the fills that are in no word list
filled_words | count | words of the fills that have a letter
agreed | count | blanks filled as the arm of reference fills them
characters_off | count | characters by which fills are longer or shorter than the words
distinct1_of_fills | share | different words among those of the fills
repeated_of_fills | count | 4-grams of the joined fills that occur before
fourgrams_of_fills | count | 4-grams of the joined fills
trigrams_read | count | runs of three words of the text that stand in the texts which its writer was trained on
trigrams_held_out | count | runs of three words of the text that stand in as many words of held-out texts
trigrams | count | runs of three words of the text
names_own | count | masked content words, each once, that stand among the fills
names | count | masked content words, each once
names_other | count | masked content words of the next document that stand among the fills
control_names | count | masked content words of the next document that are none of this one
membership | share | pseudo-value of a pair of a text read and one held out; the mean is the AUC
canary_loss | share | as `membership`, of a pair of canaries: planted, and not
canary_text | share | as `canary_loss`, by word tables of the texts of the cell
recognised | count | of text and original, how many the classifier tells apart
texts | count | two: the text and its original
repeated | count | 4-grams of the text that occur before
fourgrams | count | 4-grams of the text
unrelated_nats | nats | minus the log-likelihood of the text under a model that no arm starts from
mistakes | count | words that the grammar tagger would change
words | count | words of the text
blanks | count | blanks filled
tokens_filled | tokens | tokens written
token_forwards | tokens | tokens read by the network, each time counted
flops | FLOPs | floating-point operations
seconds | s | wall-clock time; differs by machine
peak_memory_mb | MB | highest memory of the process; differs by machine
device | - | cpu or cuda
precision | - | number format of the network
flops_first | FLOPs per document | cost of the first arm, of compute
flops_second | FLOPs per document | cost of the second arm, of compute
value_first | of the metric | score of the first arm, of compute
value_second | of the metric | score of the second arm, of compute
quality_metric | - | metric of the text
quality_scope | - | scope of that metric
utility_metric | - | metric of the task
statistic | - | coefficient or test that the value is
quality | of the metric | score of the text by that metric
quality_low | of the metric | lower {LOW_HIGH}
quality_high | of the metric | upper {LOW_HIGH}
usefulness.kind | - | network, word table, floor, or reference: a text that reads its originals
usefulness.value | of the task | score of the task model that learned from the text
usefulness.share | share | of headroom: (value - unfilled) / (real - unfilled)
share_low | share | lower {LOW_HIGH}
share_high | share | upper {LOW_HIGH}
n_writers | count | writers behind the value
writers.value | of the statistic | coefficient, share, ratio, place, slope or corrected p
n_cells | count | cells behind the value
bound | - | the interval must lie inside plus or minus this for `no strong correlation`
decision | - | what the interval and the bound decide
model | - | initial checkpoint of the model; `none` for a baseline
kind | - | how the row is judged: difference, at least, spearman, slope_at_same_masking or cost
status | - | made; not run; not competent, or no room: run, but decides nothing
direction | - | side that is ahead, by the interval and a corrected p: first, second or none shown
size | - | where the whole interval lies: inside the margin, outside, or not settled
p_holm | - | p, Holm-corrected over the claim that asks, or over the other rows with that measure
unsure | - | whether an arm is competent on all blanks, but not on content words
excluded | - | arms that may not speak
excluded_because | - | why the row decides nothing: an arm that is not competent, or a task without room; else empty
initialisation | - | what training began with
corpora | - | corpora that the model was trained on
step | count | optimiser steps up to here
train_loss | nats per token | mean loss of the training text since the row before
dev_loss | nats per token | loss on the dev split
tokens_per_second | tokens per s | speed of training; differs by machine
"""
ROWS = (line.split(" | ") for line in WRITTEN.strip().split("\n"))
OF_CLASSES = {
    "hidden": "blanks that hide {}, 0 where there are other blanks alone",
    "exact": "blanks that hide {} and were filled with them",
    "blanks": "blanks that hide {}",
}
CLASSES = {"content": "content words", "stopword": "stopwords", "punctuation": "punctuation"}
OF_SIDES = {"arm": ("", "arm"), "strategy": ("", "masking"), "ratio": ("share", "ratio")}
MEANINGS = {
    **{
        name: ("of the metric", "score of the document")
        for name in MEASURES
        if (name,) == MEASURES[name].sums.get("document")
    },
    **{name: ("" if unit == "-" else unit, meaning) for name, unit, meaning in ROWS},
    **{
        f"{side}_{name}": (unit, f"{words} of the {side} side")
        for side in ("first", "second")
        for name, (unit, words) in OF_SIDES.items()
    },
    **{
        f"{column}_{name}": ("count", meaning.format(words))
        for name, words in CLASSES.items()
        for column, meaning in OF_CLASSES.items()
    },
    **{f"matched_{n}": ("count", f"n-grams of order {n} that the original has too") for n in ORDERS},
    **{f"ngrams_{n}": ("count", f"n-grams of order {n} of the written text") for n in ORDERS},
}


def describe_column(table: str, column: str) -> tuple[str, str]:
    """Return unit and meaning of a column of a table; raises KeyError for one without an entry."""
    return MEANINGS.get(f"{table}.{column}") or MEANINGS[column]


def write_dictionary() -> str:
    """Return the data dictionary in Markdown: a section per table, a line per column; keys in bold."""
    sections = []
    for table, columns in COLUMNS.items():
        lines = [
            f"### {FILES.get(table, f'{table}.csv')}",
            "",
            f"{TABLES[table].capitalize()}.",
            "",
            "| column | unit | meaning |",
            "|---|---|---|",
        ]
        for column in columns:
            unit, meaning = describe_column(table, column)
            name = f"**{column}**" if column in KEYS[table] else column
            lines.append(f"| {name} | {unit} | {meaning} |")
        sections.append("\n".join(lines))
    return "\n\n".join(sections)
