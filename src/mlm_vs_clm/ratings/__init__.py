"""Human judgement: a blinded sheet for raters, and the analysis of their answers."""
