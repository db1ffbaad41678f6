"""Tiny networks of seven classes with random weights, and tokenizers of the families they use; nothing is downloaded."""

import json

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaTokenizer,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)

from blankfill import BlankedText
from blankfill.networks.reading import Reading
from blankfill.text import find_words

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def ids_shown(run):
    """Return the sub-words of every row that masked filling shows its network, pass by pass, while `run` runs."""
    shown, read = [], Reading.__call__

    def look(self, texts, places):
        shown.extend([*text] for text in texts)
        return read(self, texts, places)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reading, "__call__", look)
        run()
    return shown


def blank(text, blanks, id="d"):
    return BlankedText(id, text, find_words(text), blanks)


def spans_of(blanked):
    """Return the texts, and the characters of the blanks of each."""
    return [text.text for text in blanked], [[text.words[i] for i in text.blanks] for text in blanked]


def blank_awkwardly(texts):
    """Return texts with blanks at halves, at each edge, neighbours, none, all, words of many tokens, and no text."""
    n_words = [len(find_words(text)) for text in texts]
    odd = "supercalifragilistic well-known café reduced hypercholesterolaemia"
    return [
        blank(texts[0], [*range(1, n_words[0], 2)], "halves"),
        blank(texts[1], [0, n_words[1] - 1], "edges"),
        blank(texts[2], [2, 3, 4, 7], "neighbours"),
        blank(texts[3], [], "none"),
        blank(texts[3], [*range(n_words[3])], "all"),
        blank(odd, [0, 3, 5], "long"),
        blank("", [], "empty"),
    ]


def byte_level(texts, **marks):
    """Train sub-words in the manner of GPT-2 and RoBERTa: every byte is known, `Ġ` is a space."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=sorted(set(marks.values())),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    if "cls_token" in marks:
        ends = [(mark, backend.token_to_id(mark)) for mark in (marks["sep_token"], marks["cls_token"])]
        backend.post_processor = processors.RobertaProcessing(*ends, trim_offsets=False)
    return PreTrainedTokenizerFast(tokenizer_object=backend, **marks)


def roberta_like(texts):
    return byte_level(
        texts,
        cls_token="<s>",
        bos_token="<s>",
        sep_token="</s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    )


def gpt2_like(texts):
    return byte_level(texts, bos_token="<|end|>", eos_token="<|end|>")


def t5_like(texts):
    """Train a Unigram vocabulary for the T5 class, which swallows spaces and writes `▁` before all that it is given."""
    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    marks = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=marks, unk_token="<unk>", show_progress=False
    )
    backend.train_from_iterator(texts, trainer)
    vocabulary = [tuple(piece) for piece in json.loads(backend.to_str())["model"]["vocab"]]
    return T5Tokenizer(vocab=vocabulary, extra_ids=10)


def llama_like(texts):
    """Train BPE for the Llama class: `▁` is a space, unknown letters fall back to bytes, only a text's start gets `▁`."""
    backend = Tokenizer(models.BPE(byte_fallback=True))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    marks = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=marks, show_progress=False)
    backend.train_from_iterator(texts, trainer)
    learned = json.loads(backend.to_str())["model"]
    return LlamaTokenizer(vocab=learned["vocab"], merges=[tuple(pair) for pair in learned["merges"]])


FAMILIES = {"roberta": roberta_like, "gpt2": gpt2_like, "t5": t5_like, "llama": llama_like}


def bert(tokenizer):
    return BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, **SMALL))


def roberta(tokenizer):
    pad = tokenizer.pad_token_id
    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=200 + pad + 1, pad_token_id=pad, **SMALL
        )
    )


def modernbert(tokenizer):
    marks = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep")}
    return ModernBertForMaskedLM(
        ModernBertConfig(
            vocab_size=len(tokenizer), max_position_embeddings=200, local_attention=16, **marks, **SMALL
        )
    )


def gpt2(tokenizer):
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), n_positions=200, n_embd=16, n_layer=2, n_head=2)
    )


def llama(tokenizer):
    return LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=300, num_key_value_heads=1, **SMALL)
    )


def t5(tokenizer):
    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(tokenizer) + 3,
            d_model=16,
            d_kv=8,
            d_ff=32,
            num_layers=2,
            num_heads=2,
            decoder_start_token_id=0,
        )
    )


def bart(tokenizer):
    marks = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=200,
            d_model=16,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            decoder_start_token_id=tokenizer.eos_token_id,
            forced_eos_token_id=None,
            **marks,
        )
    )


# class: how it is built, whose sub-words it has, its kind, and whether it keeps the text outside blanks
NETWORKS = {
    "bert": (bert, "wordpiece", "masked", True),
    "roberta": (roberta, "roberta", "masked", True),
    "modernbert": (modernbert, "roberta", "masked", True),
    "gpt2": (gpt2, "gpt2", "causal", True),
    "llama": (llama, "llama", "causal", True),
    "t5": (t5, "t5", "seq2seq", True),
    "bart": (bart, "roberta", "seq2seq", False),
}


def neox(n_vocabulary):
    return GPTNeoXForCausalLM(
        GPTNeoXConfig(vocab_size=n_vocabulary, max_position_embeddings=200, is_decoder=True, **SMALL)
    ).eval()


def make_tokenizers(texts, wordpiece):
    return {"wordpiece": wordpiece} | {name: make(texts) for name, make in FAMILIES.items()}


def make_networks(tokenizers):
    made = {}
    for name, (build, family, _, _) in NETWORKS.items():
        torch.manual_seed(3)
        made[name] = (build(tokenizers[family]).eval(), tokenizers[family])
    return made
