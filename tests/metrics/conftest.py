"""A WordNet of two words and an encoder of random weights."""

import pytest
from scored_texts import WORDS


@pytest.fixture(scope="session")
def wordnet(tmp_path_factory):
    """A WordNet with one synset, {doctor, physician}, in the format of its data and index files."""
    folder = tmp_path_factory.mktemp("nltk") / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    head = "  1 WordNet 3.0 Copyright 2006 by nobody\n"
    line = f"{len(head):08d} 00 n 02 doctor 0 physician 0 000 | one who heals  \n"
    index = "".join(f"{word} n 1 0 1 0 {len(head):08d}  \n" for word in ("doctor", "physician"))
    for part in ("adj", "adv", "noun", "verb"):
        (folder / f"data.{part}").write_text(head + (line if part == "noun" else ""))
        (folder / f"index.{part}").write_text(index if part == "noun" else "")
        (folder / f"{part}.exc").write_text("")
    (folder / "index.sense").write_text("")
    (folder / "lexnames").write_text("0\tadj.all\t3\n")
    return folder


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    torch.manual_seed(0)
    shape = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=64)
    config = BertConfig(vocab_size=5 + len(WORDS), max_position_embeddings=40, **shape)
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=40).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def encoder(encoder_folder):
    """Two layers of that encoder; what it remembers changes no score."""
    from mlm_vs_clm.metrics.bertscore import Encoder

    return Encoder(encoder_folder, "tiny", 2, "fp32", "cpu")
