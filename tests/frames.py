"""Tables of one kind made from another, without the packages that the libraries would ask for."""

from __future__ import annotations

import pandas as pd
import polars as pl


def to_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The same table in polars; missing values become null."""
    columns = {
        name: [None if pd.isna(value) else value for value in frame[name].tolist()]
        for name in frame.columns
    }
    return pl.DataFrame(columns)
