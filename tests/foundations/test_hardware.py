"""What the machine offers: its GPUs, the precision in which its products are faster, memory and threads."""

import pytest
import torch

from blankfill import loading, memory
from mlm_vs_clm import hardware
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.hardware import (
    choose_device,
    choose_precision,
    explain_out_of_memory,
    training_threads,
)


def show_gpus(monkeypatch, kind, number):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device(kind))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: number)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    show_gpus(monkeypatch, "cuda", 2)
    assert [choose_device(wish) for wish in ("auto", "cuda", "cuda:1")] == ["cuda", "cuda", "cuda:1"]
    with pytest.raises(StudyError, match="device=cuda:2 cannot be used: torch sees 2 in all"):
        choose_device("cuda:2")
    with pytest.raises(StudyError, match="device=cuda:01 is unknown"):
        choose_device("cuda:01")  # torch reads no leading zero


def test_apples_gpu_fills_and_does_not_train(monkeypatch):
    show_gpus(monkeypatch, "mps", 1)
    assert loading.choose_device("auto").type == loading.choose_device("mps").type == "mps"
    assert choose_device("auto") == "cpu"
    with pytest.raises(StudyError, match="device=mps is unknown: choose auto, cpu, cuda"):
        choose_device("mps")


@pytest.mark.parametrize(
    ("maker", "takes_bf16", "instruction", "matrix_unit", "wanted"),
    [
        ("AuthenticAMD", True, True, False, "bf16"),  # Zen 4 and later
        ("GenuineIntel", True, True, True, "bf16"),  # Sapphire Rapids
        ("GenuineIntel", True, True, False, "fp32"),  # in a virtual machine that hides its matrix unit
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


def test_full_memory_is_one_line_with_the_setting_to_lower():
    for error in (
        torch.OutOfMemoryError("CUDA out of memory. Tried"),
        RuntimeError("not enough memory: you"),
    ):
        with pytest.raises(StudyError) as told, explain_out_of_memory("training", "set workers=1"):
            raise error
        assert "while training: set workers=1" in str(told.value)
        assert "finished cells are kept" in str(told.value)
    with pytest.raises(RuntimeError, match="shapes"), explain_out_of_memory("training", "x"):
        raise RuntimeError("shapes differ")


def test_training_takes_one_thread_unless_told_and_puts_the_number_back():
    before = torch.get_num_threads()
    for asked, used in ((0, 1), (2, 2)):
        with training_threads("cpu", asked):
            assert torch.get_num_threads() == used
    assert torch.get_num_threads() == before


def test_freed_memory_is_handed_back_once_a_process_has_grown(monkeypatch):
    sizes, handed_back = iter([1000, 1500, 1601, 900, 1400, 1501]), []
    monkeypatch.setattr(memory, "resident_memory_mb", lambda: next(sizes))
    monkeypatch.setattr(memory, "return_freed_memory", lambda: handed_back.append(True))
    keeper, when = memory.MemoryKeeper(), []
    for _ in range(6):
        keeper.release_if_grown()
        when.append(len(handed_back))
    assert when == [0, 0, 1, 1, 1, 2]  # 600 MB over the first look, and over the first after handing back


def test_what_a_process_holds_is_at_most_what_it_ever_held():
    assert 10 < memory.resident_memory_mb() <= 1.05 * memory.peak_memory_mb("cpu")
