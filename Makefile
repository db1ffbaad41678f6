# `make help` lists the commands. `make reproduce` and `make test` work as the first command after a clone.
ifeq ($(SCALE),paper)
TRACK ?= bert_t5
endif
TRACK ?= matched
# This study was designed for the longer trainings of `evening`.
EVENING := ettin
SCALE ?= $(if $(filter $(EVENING),$(TRACK)),evening,laptop)
PYTHON ?= python3
ARGS ?=
KIND ?= masked
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
# Settings and options of ours, without those that ARGS has in place of a default: one that is typed twice is refused.
BARE = $(subst +,,$(subst ",,$(subst ',,$(ARGS))))
AS_TYPED = $(foreach name,SCALE TRACK,$(if $(filter command,$(origin $(name))),%=$($(name))))
key_of = $(firstword $(subst =, ,$(1)))
ours = $(foreach word,$(1),$(if $(filter $(call key_of,$(word)) $(call key_of,$(word))=%,$(BARE)),$(filter $(AS_TYPED),$(word)),$(word)))
CHOSEN := scale=$(SCALE) track=$(TRACK)
RESULTS := $(SCALE)$(if $(filter-out matched,$(TRACK)),-$(TRACK))
export HF_HUB_OFFLINE ?= 0
export TOKENIZERS_PARALLELISM := false
# Where it is set, as in many containers, every process compiles 3,000 files anew: six seconds each.
unexport PYTHONDONTWRITEBYTECODE

# A variable without effect is refused before any work, also one that is none of ours: Hydra's settings go into ARGS.
OURS := SCALE TRACK CORPUS MODEL KIND STUDY ARM RATINGS
TAKEN_data := TRACK
TAKEN_reproduce := SCALE TRACK
TAKEN_smoke := TRACK
TAKEN_own := CORPUS
TAKEN_model := MODEL KIND CORPUS
TAKEN_page := STUDY
TAKEN_notebooks := SCALE TRACK
TAKEN_verify := SCALE TRACK
TAKEN_model-card := ARM SCALE TRACK
TAKEN_rating-sheet := SCALE TRACK
TAKEN_ratings := RATINGS
# Goals that read no ARGS.
IDLE := help install data page check docs manifest committed clean
AND_ARGS := $(if $(filter-out $(IDLE),$(MAKECMDGOALS)), and ARGS)
TAKEN := $(foreach goal,$(MAKECMDGOALS),$(TAKEN_$(goal)))
COMMA := ,
TYPED := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
$(foreach name,$(filter-out $(TAKEN) ARGS PYTHON PY READY VENV MAKEFLAGS MAKEOVERRIDES -*-command-variables-*-,$(TYPED)),\
	$(if $(filter $(name),$(OURS)),\
		$(error make $(MAKECMDGOALS) takes no $(name)$(if $(TAKEN),$(COMMA) only $(TAKEN)$(AND_ARGS))),\
		$(error $(name) is no variable of this Makefile: settings go into ARGS, as ARGS='$(name)=$($(name))')))

$(if $(filter command,$(origin ARGS)),$(if $(AND_ARGS),,$(error make $(MAKECMDGOALS) takes no ARGS)))

# A goal reads what another writes (pages, the manifest, the environment), and a study uses all processors by itself.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help install data reproduce page smoke test check bench notebooks docs model-card peers rating-sheet ratings verify manifest store table clean own named model modelled committed

help: ## show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'
	@echo "  SCALE=smoke|laptop|evening|desk|gpu|paper (default laptop), TRACK=matched|pretrained|... (conf/track), ARGS='any Hydra override'"

install: $(READY) ## make the virtual environment with the exact versions of constraints.txt

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed, $(PYTHON) is older: make PYTHON=python3.11 ..."; exit 1; }
	@$(PY) -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { echo "error: no virtual environment could be made in $(VENV): install the venv module of $(PYTHON), free space, and try again"; exit 1; }
	@echo "installing into $(VENV) (once; one to three minutes; log: $(VENV)/install.log)"
	@$(PY) -m pip install --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev]' > $(VENV)/install.log 2>&1 || { tail -n 5 $(VENV)/install.log; echo "error: the packages could not be installed: check the network and free disk space (3 GB), then run the same command again"; exit 1; }
	@touch -r "$$(ls -t $^ | head -n 1)" $(READY)  # not by the clock, which may be behind the files

data: $(READY) ## fetch corpora, models, WordNet and tagger (hash-checked, 430 MB)
	@$(PY) -m mlm_vs_clm data --data-dir data $(if $(filter kinds,$(TRACK)),--also kinds)

reproduce: data ## run the study at SCALE and write results/SCALE (with TRACK, results/SCALE-TRACK)
	@$(PY) experiments/report.py $(call ours,$(CHOSEN)) $(ARGS)

page: $(READY) ## make the page of a study again from its committed tables: STUDY=desk, or a folder (all without)
	@$(PY) -m mlm_vs_clm page $(if $(wildcard $(STUDY)/study.yaml),$(STUDY),$(STUDY:%=results/%))

# The shell and Hydra read the path as it is, whatever signs it has: backslashes count before a quote, an end and ${.
QUOTED = sed -e 's/\(\\*\)"/\1\1\\"/g' -e 's/\(\\*\)$$/\1\1/' -e 's/\(\\*\)$${/\1\1\\$${/g'
own: export TEXTS := $(value CORPUS)
own: named data ## compare two models on your own texts: make own CORPUS=<folder or file>
	@$(PY) experiments/report.py $(call ours,scale=own corpus=own) "corpus.path=\"$$(printf %s "$$TEXTS" | $(QUOTED))\"" $(ARGS)

model: export MODEL := $(value MODEL)
model: export TEXTS := $(value CORPUS)
model: modelled data ## test a model of yours as it comes: make model MODEL=<hub id or folder> [KIND=causal] [CORPUS=<texts>]
	@set -- track=own_$(KIND) "model.source=\"$$(printf %s "$$MODEL" | $(QUOTED))\""; \
	test -z "$$TEXTS" || set -- "$$@" $(call ours,scale=own corpus=own) "corpus.path=\"$$(printf %s "$$TEXTS" | $(QUOTED))\""; \
	$(PY) experiments/report.py "$$@" $(ARGS)

modelled:
	@test -n "$$MODEL" || { echo "error: name the model: make model MODEL=<hub id or folder>"; exit 1; }

named: # before anything is fetched
	@test -n "$$TEXTS" || { echo "error: name your texts: make own CORPUS=<folder or file>"; exit 1; }

smoke: data ## try every stage on a few documents and tokens, into outputs/smoke
	@$(PY) experiments/report.py $(call ours,scale=smoke track=$(TRACK) scale.training.token_budget=4000 results=outputs/smoke) $(ARGS)

test: $(READY) ## run the fast tests (no network, no GPU); the slow ones: ARGS='-m slow'
	@$(PY) -m pytest -m "not slow" $(ARGS)

check: $(READY) ## lint, formatting, import contracts and types
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports && $(VENV)/bin/mypy

notebooks: $(READY) ## execute the notebooks on results/SCALE (laptop where it is not there), in place (elsewhere: ARGS='--target <folder>')
	@MLM_VS_CLM_SCALE=$(or $(notdir $(wildcard results/$(RESULTS))),laptop) $(PY) -m mlm_vs_clm notebooks $(ARGS)

docs: $(READY) ## build the documentation site into build/docs; a warning is an error, nothing is fetched
	@$(PY) -m sphinx -W --keep-going -q docs build/docs
	@echo build/docs/index.html

model-card: export CARD_OF := $(value ARM)
model-card: $(READY) ## write an arm's trained model with its card into outputs/models/ARM: make model-card ARM=mlm SCALE=laptop
	@test -n "$$CARD_OF" || { echo "error: name the arm: make model-card ARM=mlm"; exit 1; }
	@$(PY) -m mlm_vs_clm model-card "$$CARD_OF" $(call ours,--results=results/$(RESULTS) --store=outputs --out="outputs/models/$$CARD_OF") $(ARGS)

bench: data ## time filling and training against plain loops, in one process
	@$(PY) -m mlm_vs_clm bench $(ARGS)

rating-sheet: $(READY) ## draw a blinded sheet for human raters into outputs/ratings
	@$(PY) -m mlm_vs_clm rating-sheet $(call ours,--results=results/$(RESULTS) --store=outputs --out=outputs/ratings) $(ARGS)

ratings: export ANSWERS := $(value RATINGS)
ratings: $(READY) ## read the raters' files back: make ratings RATINGS=<folder>
	@test -n "$$ANSWERS" || { echo "error: name the folder of the raters' files: make ratings RATINGS=<folder>"; exit 1; }
	@$(PY) -m mlm_vs_clm ratings "$$ANSWERS" $(call ours,--store=outputs --out=results/ratings) $(ARGS)

verify: committed data ## compare a fresh report with the committed results, number by number
	@mkdir -p outputs/verify && rm -rf outputs/verify/ratings outputs/verify/$(RESULTS)
	@[ ! -d results/ratings ] || cp -r results/ratings outputs/verify  # the page shows them too
	@$(PY) experiments/report.py $(CHOSEN) results=outputs/verify $(ARGS)
	@$(PY) -m mlm_vs_clm verify --fresh outputs/verify/$(RESULTS) --committed results/$(RESULTS)

committed: # before anything is fetched
	@test -d results/$(RESULTS) || { echo "error: results/$(RESULTS) is not there to be compared with: choose SCALE and TRACK of a study in results/"; exit 1; }

manifest: ## list the checksums of results/ in results/MANIFEST.sha256, after results have changed
	@cd results && find . -type f ! -path ./MANIFEST.sha256 ! -path ./README.md | LC_ALL=C sort | sed 's|^\./||' | xargs sha256sum > MANIFEST.sha256

peers: data ## time filling and scoring against other libraries, in environments of their own (.venv-peers)
	@test -x .venv-peers/ours/bin/python || $(PYTHON) -m venv .venv-peers/ours
	@test -x .venv-peers/older/bin/python || $(PYTHON) -m venv .venv-peers/older
	@.venv-peers/ours/bin/python -m pip install --disable-pip-version-check -q -c constraints.txt -e .
	@grep -v '^#' benchmarks/peers/requirements.txt | while read -r peer; do \
		.venv-peers/older/bin/python -m pip install --disable-pip-version-check -q "$$peer" || echo "$$peer could not be installed: its rows will say so"; done
	@.venv-peers/ours/bin/python -m benchmarks.peers $(ARGS)
	@$(PY) -m benchmarks.peers.page

table: $(READY) ## tabulate and draw stored results: ARGS='corpus=plots strategy=random'
	@$(PY) -m mlm_vs_clm table $(ARGS)

store: $(READY) ## list the stored artifacts (remove: ARGS='remove <stage>|unfinished|all')
	@$(PY) -m mlm_vs_clm store $(or $(ARGS),list)

clean: ## remove the virtual environment and everything stored (data stays)
	@rm -rf $(VENV) .venv-peers outputs build/docs
