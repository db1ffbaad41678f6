"""Does masked language modelling write better text than causal language modelling?"""
