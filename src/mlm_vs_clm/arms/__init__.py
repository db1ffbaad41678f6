"""What the study fills with beyond the library: baselines, capitals, and the settings of an arm."""
