"""Fake tables for the report's tests: every number here is invented by a formula and stands for nothing."""

import pandas as pd
from fake_tables import fake_tables


def test_the_fake_tables_are_the_same_each_time():
    first, second = fake_tables(), fake_tables()
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, second[name])
