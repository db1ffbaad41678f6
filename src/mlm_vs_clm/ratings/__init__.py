"""Human judgement: a blinded sheet for raters, and what their answers say."""
