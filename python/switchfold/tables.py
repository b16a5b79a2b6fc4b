# SPDX-License-Identifier: Apache-2.0
"""Tables: DataFrames if pandas is installed, otherwise lists of dicts with the same names and values, which columns index
alike."""
from __future__ import annotations

import contextlib
import csv
import difflib
import importlib.util
import pathlib
import sqlite3
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

if TYPE_CHECKING:
    import pandas

Table = Union["pandas.DataFrame", "Rows"]


class Rows(list):
    """A list of rows, each a dict. As in a DataFrame, `rows["a"]` is a column, and `rows[["a", "b"]]` a table of columns."""

    def __getitem__(self, what: Any) -> Any:
        if isinstance(what, str):
            return [self._cell(row, what) for row in self]
        if isinstance(what, list):
            return Rows({name: self._cell(row, name) for name in what} for row in self)
        return super().__getitem__(what)

    @staticmethod
    def _cell(row: Mapping[str, Any], name: str) -> Any:
        if name not in row:
            near = difflib.get_close_matches(name, row, 1)
            raise KeyError(f"{name}: no such column" + (f"; did you mean {near[0]}?" if near else ""))
        return row[name]


def has_pandas() -> bool:
    """Whether pandas is installed, so that tables are DataFrames."""
    return importlib.util.find_spec("pandas") is not None


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> Table:
    """A table with one row per mapping and the columns of all rows; without rows its columns are `columns`."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row)) or list(columns)
    if not has_pandas():
        return Rows({name: row.get(name) for name in columns} for row in rows)
    import pandas

    return pandas.DataFrame(rows, columns=columns)


def read_csv(path: pathlib.Path) -> Table:
    """Reads a CSV file with a header. Numeric cells become numbers, empty ones are unknown (NaN, or None in a dict)."""
    if has_pandas():
        import pandas

        # A kernel may be called "NA", so only an empty cell counts as unknown.
        return pandas.read_csv(path, keep_default_na=False, na_values=[""])
    with path.open(newline="", encoding="utf-8") as file:
        return Rows({name: _value(cell) for name, cell in row.items()} for row in csv.DictReader(file))


def read_database(path: pathlib.Path, query: str) -> Table:
    """The result of a query on an SQLite file. The query may not change it."""
    # Not mode=ro: SQLite writes to roll back what a writer left that was killed, and refuses to read before.
    with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as database:
        database.execute("PRAGMA query_only = ON")
        answer = database.execute(query)
        columns = [column[0] for column in answer.description]
        return table((dict(zip(columns, row)) for row in answer), columns)


def _value(cell: str) -> Any:
    if cell == "":
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell
