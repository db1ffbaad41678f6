"""Networks that are no BERT and no GPT-2: what they remember and see is tried, and what fails is read the plain way."""

import pytest
import torch
from every_network import build
from plain_loops import fill_slots, write_whole
from tiny_models import NETWORKS, SMALL
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BigBirdConfig,
    BigBirdForMaskedLM,
    Data2VecTextConfig,
    Data2VecTextForMaskedLM,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    GPT2LMHeadModel,
    LEDConfig,
    LEDForConditionalGeneration,
)

from blankfill import DocumentError, fill, fill_masked, score
from blankfill.errors import BlankfillError
from blankfill.networks.probe import _KNOWN, N_LAYERS, TOLERANCE, _testable
from blankfill.networks.sizes import first_position, position_limit
from blankfill.slots.rows import SlotKind, to_rows
from blankfill.slots.utf8 import ends_character, is_whole, spell_bytes, starts_character
from blankfill.slots.vocabulary import slot_bias
from blankfill.text import blank_out, find_words

CAPTAIN = "The old captain sailed the small boat across the cold bay."
DOCTOR = "A doctor."


def spans(*chosen):
    return [
        [find_words(text)[i] for i in some] for text, some in zip((CAPTAIN, DOCTOR), chosen, strict=False)
    ]


@pytest.fixture(scope="module")
def words(tokenizers):
    return tokenizers["roberta"]


def test_a_network_of_two_parts_in_16_bits_is_tried_on_a_copy_in_32():
    """Two ways of the network itself could differ by a near tie alone, and its texts were written without a cache."""
    parts = BertConfig(vocab_size=60, **SMALL | {"num_hidden_layers": N_LAYERS + 1})
    model = EncoderDecoderModel(EncoderDecoderConfig.from_encoder_decoder_configs(parts, parts)).bfloat16()
    model.generation_config.decoder_start_token_id = 7
    subject, tolerance = _testable(model)
    assert (subject.dtype, tolerance) == (torch.float32, TOLERANCE)
    stacks = (subject.encoder.encoder, subject.decoder.bert.encoder)
    assert [len(stack.layer) for stack in stacks] == [N_LAYERS] * 2
    assert subject.generation_config.decoder_start_token_id == 7
    assert model.config.encoder.num_hidden_layers == N_LAYERS + 1


@pytest.mark.parametrize(
    "name", ["openai-gpt", "mamba", "jamba", "minimax", "rwkv", "falcon", "gpt2", "llama"]
)
def test_a_causal_network_reads_all_that_stands_before(name, words):
    """Equal to whole passes without a cache, whether or not the class has one."""
    model, blanks = build("causal", name, words), spans((3, 5, 9), (1,))
    made, measured = (run([CAPTAIN, DOCTOR], blanks, model, words) for run in (fill, score))
    for text, some, fills, one in zip((CAPTAIN, DOCTOR), blanks, made.fills, measured, strict=True):
        plain, nats = fill_slots(model, words, text, some, "causal")
        assert fills == plain and one.nats == pytest.approx(nats, rel=1e-4)
    is_plain = name not in ("gpt2", "llama")
    assert ("PlainReader" in _KNOWN[model].values()) == is_plain


@pytest.mark.parametrize("name", ["fnet", "convbert", "funnel", "nystromformer", "bert", "roberta"])
def test_a_text_beside_a_longer_one_is_read_as_alone(name, words):
    model, blanks = build("masked", name, words), spans((2, 4), (1,))
    axes = {"order": "left_to_right"}
    made, measured = (run([CAPTAIN, DOCTOR], blanks, model, words, **axes) for run in (fill, score))
    for text, some, fills, one in zip((CAPTAIN, DOCTOR), blanks, made.fills, measured, strict=True):
        plain, nats = fill_slots(model, words, text, some, "masked")
        assert fills == plain and one.nats == pytest.approx(nats, rel=1e-4)
    assert ("padded" in _KNOWN[model].values()) == (name in ("bert", "roberta"))


@pytest.mark.parametrize("name", ["fsmt", "switch_transformers", "t5", "bart"])
def test_an_encoder_decoder_writes_as_whole_passes_do(name, words):
    model, blanks = build("seq2seq", name, words), spans((2, 4), (1,))
    made = fill([CAPTAIN, DOCTOR], blanks, model, words, source="kept", max_new_tokens=5)
    pairs = zip((CAPTAIN, DOCTOR), blanks, strict=True)
    plain = [write_whole(model, words, text, some, 5) for text, some in pairs]
    assert made.texts == words.batch_decode(plain, skip_special_tokens=True)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rounding_refuses_no_network_of_a_known_class(name, dtype, networks):
    """A network in 16 bits is tried on a small copy in 32, and takes the fast way as it would in 32."""
    model, tokenizer = networks[name]
    axes = {"max_new_tokens": 3} if NETWORKS[name][2] == "seq2seq" else {}
    fast = {"masked": {"padded"}, "causal": {"LockstepReader"}, "seq2seq": {"batch"}}[NETWORKS[name][2]]
    state = torch.get_rng_state()
    try:
        fill([CAPTAIN], spans((1, 2)), model.to(dtype), tokenizer, **axes)
        ways = {way for key, way in _KNOWN[model].items() if dtype in key}
    finally:
        model.float()
    assert ways == fast and torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("name", ["bert", "convbert"])
def test_a_masked_network_in_16_bits_is_tried_as_closely_as_in_32(name, words):
    """Padding changes what ConvBERT reads by less than 16 bits round."""
    model = build("masked", name, words).bfloat16()
    assert _testable(model)[1] == TOLERANCE
    alone, beside = score(DOCTOR, None, model, words), score([DOCTOR, CAPTAIN], None, model, words)[0]
    assert alone.nats == pytest.approx(beside.nats, rel=1e-4)
    assert ("padded" in _KNOWN[model].values()) == (name == "bert")


def test_a_network_that_does_not_run_in_16_bits_is_refused(words):
    with pytest.raises(BlankfillError, match="FNetForMaskedLM cannot be read .*BFloat16"):
        fill([CAPTAIN], spans((2,)), build("masked", "fnet", words).bfloat16(), words)


def test_a_network_that_reads_what_follows_is_told_the_true_reason(words):
    with pytest.raises(BlankfillError, match="XLNetLMHeadModel reads what follows a token too"):
        fill([CAPTAIN], spans((2,)), build("causal", "xlnet", words), words)


def test_look_ahead_is_refused_where_candidates_are_not_kept_apart(words):
    axes = {"context": "both", "candidates": 2, "lookahead": 2}
    with pytest.raises(BlankfillError, match="JambaForCausalLM reads another text with them"):
        fill([CAPTAIN], spans((2,)), build("causal", "jamba", words), words, **axes)
    fill([CAPTAIN], spans((2,)), build("causal", "llama", words), words, **axes)


@pytest.mark.parametrize(
    "name", ["roberta", "roberta-prelayernorm", "data2vec-text", "ibert", "mpnet", "esm", "bert"]
)
def test_the_longest_text_that_is_taken_can_be_read(name, words):
    """The limit is what the table of positions holds, found by reading one token more."""
    model = build("masked", name, words)
    limit = position_limit(model)
    ids = torch.full((1, limit), 50)
    assert model(input_ids=ids).logits.shape[1] == limit
    with pytest.raises((IndexError, RuntimeError)):
        model(input_ids=torch.full((1, limit + 1), 50))


def test_position_limit_of_data2vec_by_hand(words):
    config = Data2VecTextConfig(vocab_size=len(words), max_position_embeddings=66, pad_token_id=2, **SMALL)
    model = Data2VecTextForMaskedLM(config)
    assert (position_limit(model), first_position(model)) == (63, 3)
    long = "(" * 62
    with pytest.raises(DocumentError, match="document 0: 64 tokens do not fit the model's 63"):
        fill_masked(model, words, [blank_out("0", long, [(0, 1)])])
    assert fill([long, CAPTAIN], [[(0, 1)], [(4, 7)]], model, words).n_unanswered == 0  # in windows


def test_encoder_and_decoder_may_have_limits_of_their_own(words):
    parts = [f"{part}_{of}" for part in ("encoder", "decoder") for of in ("layers", "attention_heads")]
    sizes = dict.fromkeys(parts, 2) | {"d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    limits = {"max_encoder_position_embeddings": 32, "max_decoder_position_embeddings": 16}
    config = LEDConfig(vocab_size=len(words), attention_window=4, decoder_start_token_id=2, **sizes, **limits)
    with pytest.raises(DocumentError, match="do not fit"):
        fill([CAPTAIN * 5], [[(4, 7)]], LEDForConditionalGeneration(config), words)
    parts = [BertConfig(vocab_size=len(words), max_position_embeddings=limit, **SMALL) for limit in (64, 16)]
    model = EncoderDecoderModel(EncoderDecoderConfig.from_encoder_decoder_configs(*parts))
    model.generation_config.decoder_start_token_id = words.bos_token_id
    made = fill([CAPTAIN], [[(4, 7)]], model, words, source="kept", max_new_tokens=40)
    assert 0 < made.ledger.passes <= 15  # and a start token


def test_weights_that_are_not_numbers_are_told(networks, words):
    """A row of logits with a NaN or without a finite number; nothing is kept of the network's properties."""
    for name, (model, tokenizer) in networks.items():
        axes = {"max_new_tokens": 3} if NETWORKS[name][2] == "seq2seq" else {}
        weight = next(p for p in model.parameters() if p.dim() > 1)
        kept = weight.detach().clone()
        known = dict(_KNOWN.get(model, {}))
        try:
            for value in (float("nan"), float("inf")):
                with torch.no_grad():
                    weight.fill_(value)
                with pytest.raises(BlankfillError, match="no finite numbers"):
                    fill([CAPTAIN], spans((2,)), model, tokenizer, **axes)
                if not axes:
                    with pytest.raises(BlankfillError, match="no finite numbers in document 0"):
                        score([CAPTAIN], spans((2,)), model, tokenizer)
        finally:
            with torch.no_grad():
                weight.copy_(kept)
        assert _KNOWN.get(model, {}) == known


def test_a_model_in_training_mode_is_used_in_evaluation_mode_and_given_back(words, networks):
    """The same text each time, and every module has its own flag again, after an error too."""
    model = BertForMaskedLM(BertConfig(vocab_size=len(words), hidden_dropout_prob=0.5, **SMALL)).train()
    model.bert.encoder.layer[0].eval()
    flags = [module.training for module in model.modules()]
    runs = [fill([CAPTAIN], spans((2, 4)), model, words).fills for _ in range(4)]
    nats = {score([CAPTAIN], spans((2, 4)), model, words)[0].nats for _ in range(3)}
    assert len({*map(str, runs)}) == len(nats) == 1
    with pytest.raises(BlankfillError):
        fill_masked(model, words, [blank_out("0", CAPTAIN * 90, [(4, 7)])])
    assert [module.training for module in model.modules()] == flags
    for name in ("gpt2", "t5", "bart"):
        model, tokenizer = networks[name]
        axes = {"max_new_tokens": 3} if name != "gpt2" else {}
        model.train()
        first, second = (fill([CAPTAIN], spans((2,)), model, tokenizer, **axes).texts for _ in range(2))
        assert first == second == fill([CAPTAIN], spans((2,)), model.eval(), tokenizer, **axes).texts


def test_big_bird_takes_no_text_that_is_long_enough_for_its_sparse_attention():
    """It leaves that attention for good at the first short text, so a long one would depend on those before it."""
    config = BigBirdConfig(vocab_size=99, max_position_embeddings=4096, **SMALL)
    assert position_limit(BigBirdForMaskedLM(config)) == 704
    config.attention_type = "original_full"
    assert position_limit(BigBirdForMaskedLM(config)) == 4096


def test_what_was_found_goes_with_the_network(words):
    model = build("causal", "gpt2", words)
    fill([CAPTAIN], spans((2,)), model, words)
    assert isinstance(model, GPT2LMHeadModel) and model in _KNOWN
    n = len(_KNOWN)
    del model
    assert len(_KNOWN) == n - 1


@pytest.mark.parametrize("mark", ["<mask>", "</s>", "<pad>"])
def test_a_special_token_typed_in_a_text_is_text(mark, words):
    text = f"The old {mark} captain sailed."
    row = to_rows([blank_of(text)], words, None)[0]
    special = {words.mask_token_id, words.eos_token_id, words.pad_token_id}
    assert not special & {*row.ids[1:-1]} and mark in words.decode(row.ids)
    made = fill([text], "captain", build("masked", "roberta", words), words, counts=[[1]])
    assert mark in made.texts[0]


def blank_of(text):
    start = text.index("captain")
    return blank_out("d", text, [(start, start + 7)])


@pytest.mark.parametrize("mark", ["<extra_id_0>", "<extra_id_3>", "</s>"])
def test_a_mark_typed_in_a_text_is_told_where_it_would_be_read_as_one(mark, networks):
    """By document, and not where the mark is a blank itself."""
    model, tokenizer = networks["t5"]
    with pytest.raises(DocumentError, match=f"document 0: it contains {mark}"):
        fill([f"say {mark} to ___ now"], "___", model, tokenizer, max_new_tokens=3)
    fill([f"say {mark} to him"], mark, model, tokenizer, max_new_tokens=3)


BYTES = {"first of three": "â", "continuing": "Ģ", "first of four": "ð"}


@pytest.mark.parametrize("token", BYTES.values(), ids=BYTES)
@pytest.mark.parametrize("text", ["He said,(___)", "He said ___."])
@pytest.mark.parametrize(("kind", "name"), [("masked", "roberta"), ("causal", "gpt2")])
def test_no_half_character_where_no_slot_is_left_for_the_rest(token, text, kind, name, tokenizers):
    tokenizer = tokenizers[name]
    model = build(kind, name, tokenizer)
    favour(model, tokenizer.convert_tokens_to_ids(token))
    made = fill([text], "___", model, tokenizer, counts=[[1]])
    assert "\ufffd" not in made.texts[0] and made.n_unanswered == 0
    if kind == "causal":
        assert "\ufffd" not in fill([text], "___", model, tokenizer, length="free").texts[0]


@pytest.mark.parametrize("family", ["roberta", "gpt2", "llama"])
def test_what_may_end_a_blank_by_trying(family, tokenizers):
    """A token may stand last if some bytes before it make it valid, first if some after it do, alone if it is valid."""
    tokenizer = tokenizers[family]
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    parts = [head + b"\x85" * n for head in (b"", b"\xc3", b"\xe2", b"\xf2") for n in range(3)]
    n_parts = 0
    for spelt in spell_bytes(tokenizer, tokens):
        if spelt is None:
            continue
        n_parts += not is_valid(spelt)
        assert is_whole(spelt) == is_valid(spelt)
        assert ends_character(spelt) == any(is_valid(part + spelt) for part in parts)
        assert (
            starts_character(spelt) == any(is_valid(spelt + b"\x85" * n) for n in range(4))
            or spelt[0] >= 0xE0
        )
    assert n_parts >= 128
    may = slot_bias(tokenizer, len(tokenizer)) == 0
    lead = tokenizer.convert_tokens_to_ids("<0xE2>" if family == "llama" else "â")
    free = [SlotKind.CONTINUATION, SlotKind.NO_SPACE, SlotKind.ANY]
    assert [kind for kind in SlotKind if may[kind, lead]] == free


def is_valid(spelt):
    return spelt.decode(errors="replace").encode() == spelt


def favour(model, token):
    """Let a network find one token likelier than all others, whatever it reads."""
    head = model.get_output_embeddings()
    bias = torch.zeros(model.config.vocab_size)
    bias[token] = 500.0
    head.register_forward_hook(lambda module, read, logits: logits + bias)


def test_a_blank_of_several_tokens_with_half_a_character_is_counted(words):
    """Each of its tokens may be a part of a character, and together they are none."""
    model = build("masked", "roberta", words)
    favour(model, words.convert_tokens_to_ids("â"))
    made = fill(["He said,(___)"], "___", model, words, counts=[[2]])
    assert "\ufffd" in made.texts[0] and made.n_unanswered == 1
