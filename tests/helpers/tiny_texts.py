"""The texts and the shape that tiny tokenizers and models are made of."""

TEXTS = [
    "The old captain sailed the small boat across the cold bay, and nobody saw him again.",
    "A young doctor gave the patient two tablets; the fever fell within an hour.",
    "Mr. Speaker, the people of this state deserve better roads, better schools and lower taxes.",
    "When the storm came, the crew (all seven) hid below deck. The captain stayed at the wheel!",
    "The doctor said: take one tablet a day, and call me if the pain returns.",
    "Better schools make better towns. The state knows this, the people know this.",
]

SHAPE = {"layers": 2, "width": 32, "heads": 2, "positions": 128}
