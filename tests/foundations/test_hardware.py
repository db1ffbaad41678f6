"""What the machine offers: the precision in which its products are faster."""

import pytest
import torch

from mlm_vs_clm import hardware
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.hardware import choose_device, choose_precision


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [choose_device(wish) for wish in ("auto", "cuda", "cuda:1")] == ["cuda", "cuda", "cuda:1"]
    with pytest.raises(StudyError, match="device=cuda:2: torch sees 2 in all"):
        choose_device("cuda:2")


@pytest.mark.parametrize(
    ("maker", "takes_bf16", "instruction", "matrix_unit", "wanted"),
    [
        ("AuthenticAMD", True, True, False, "bf16"),  # Zen 4 and later
        ("GenuineIntel", True, True, True, "bf16"),  # Sapphire Rapids
        (
            "GenuineIntel",
            True,
            True,
            False,
            "fp32",
        ),  # the same in a virtual machine that hides its matrix unit
        ("AuthenticAMD", True, False, False, "fp32"),  # Zen 3
        ("GenuineIntel", False, False, False, "fp32"),  # without AVX-512
    ],
)
def test_a_processor_multiplies_in_the_precision_in_which_it_is_faster(
    maker, takes_bf16, instruction, matrix_unit, wanted, monkeypatch
):
    monkeypatch.setattr(hardware, "_read_cpuinfo", lambda: {"vendor_id": maker})
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: takes_bf16)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: instruction)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: matrix_unit)
    assert choose_precision("auto", "cpu") == wanted
    assert choose_precision("bf16", "cpu") == "bf16"
