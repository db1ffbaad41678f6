"""Every language model class of transformers, built tiny from its configuration with random weights."""

import torch
import transformers
from transformers.models.auto import modeling_auto as hf
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

CLASSES = {
    "masked": hf.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "causal": hf.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "seq2seq": hf.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
}
LARGEST = 3_000_000  # parameters
WIDTH = (
    "hidden_size d_model n_embd embed_dim dim emb_dim embedding_size model_dim attention_hidden_size d_embed"
)
DEPTH = "num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_decoder_layers num_encoder_layers"
HEADS = (
    "num_attention_heads num_heads n_head n_heads encoder_attention_heads decoder_attention_heads "
    "num_encoder_attention_heads num_decoder_attention_heads num_key_value_heads"
)
INNER = "intermediate_size d_ff ffn_dim encoder_ffn_dim decoder_ffn_dim d_inner hidden_dim n_inner"
POSITIONS = "max_position_embeddings n_positions max_seq_len max_encoder_position_embeddings max_decoder_position_embeddings"
SIZES = {
    **dict.fromkeys(WIDTH.split(), 16),
    **dict.fromkeys(DEPTH.split(), 2),
    **dict.fromkeys(HEADS.split(), 2),
    **dict.fromkeys(INNER.split(), 32),
    **dict.fromkeys(POSITIONS.split(), 128),
    **{"head_dim": 8, "d_kv": 8, "sliding_window": 4, "attention_window": 4, "rotary_dim": 4},
    **{"num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2},
    **{"moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "time_step_rank": 4},
    **{"state_size": 8, "mamba_d_state": 8, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_n_groups": 1},
    **{"q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4},
    **{"qk_head_dim": 8, "v_head_dim": 8},
}
SPECIAL = {
    "jamba": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "use_mamba_kernels": False,
    },
    "mamba2": {"num_heads": 4, "head_dim": 8, "n_groups": 1},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "reformer": {"axial_pos_embds": False},
    "xmod": {"default_language": "en_XX"},
}
MARKS = ("pad", "bos", "eos", "cls", "sep", "mask", "unk")


def configure(name, tokenizer):
    """Return a small configuration: every setting of a size that the class has."""
    make = CONFIG_MAPPING[name]
    default = make()
    known = default.to_dict()
    given = {size: value for size, value in SIZES.items() if known.get(size) is not None}
    for kinds in ("layer_types", "layers_block_type", "mlp_layer_types"):
        if isinstance(known.get(kinds), list):
            given[kinds] = [known[kinds][0], known[kinds][-1]]
    marks = {f"{mark}_token_id": getattr(tokenizer, f"{mark}_token_id") for mark in MARKS}
    special = SPECIAL.get(name, {}) | {"decoder_start_token_id": tokenizer.bos_token_id}
    return make(**{**given, **marks, **special, "vocab_size": len(tokenizer)})


def build(kind, name, tokenizer):
    """Return a tiny model with weights drawn from N(0, .25); raises whatever the class does if it cannot be tiny."""
    make = getattr(transformers, CLASSES[kind][name])
    config = configure(name, tokenizer)
    if kind == "causal" and name in CLASSES["masked"]:
        config.is_decoder = True
    with torch.device("meta"):
        n = sum(parameter.numel() for parameter in make(config).parameters())
    if n > LARGEST:
        raise ValueError(f"{n} parameters")
    torch.manual_seed(0)
    model, generator = make(config).eval(), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.25, generator=generator)
    return model
