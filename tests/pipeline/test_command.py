"""How a stage script is started: what is refused before any work."""

import pytest

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline.command import refuse_launcher


@pytest.mark.parametrize(
    "variables", [{"WORLD_SIZE": "2"}, {"ACCELERATE_USE_CPU": "True", "MASTER_ADDR": "127.0.0.1"}]
)
def test_a_launcher_of_several_processes_is_refused(variables, monkeypatch):
    refuse_launcher("pretrain")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        StudyError, match="run python experiments/pretrain.py without it, or use several GPUs"
    ):
        refuse_launcher("pretrain")
