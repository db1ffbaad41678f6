"""What a person calls beside the stages: `python -m mlm_vs_clm <tool>`."""
