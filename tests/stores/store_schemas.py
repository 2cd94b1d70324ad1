"""The schemas that all migrations make, as text to compare. ``python store_schemas.py`` writes the files anew."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "schemas"

_COLUMNS = """
SELECT concat(c.relname, '.', a.attname, ' ', format_type(a.atttypid, a.atttypmod),
  CASE WHEN a.attcollation = '"C"'::regcollation THEN ' COLLATE "C"' END, CASE WHEN a.attnotnull THEN ' NOT NULL' END,
  CASE a.attidentity WHEN 'a' THEN ' IDENTITY' END)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = to_regnamespace(%(schema)s) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = %(schema)s ORDER BY indexname"
_CONSTRAINTS = """
SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = to_regnamespace(%(schema)s) AND contype IN ('p', 'u', 'f', 'c') ORDER BY 1
"""
_FUNCTIONS = "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = to_regnamespace(%(schema)s) ORDER BY proname"


def sqlite_schema(path: Path) -> str:
    """All that a SQLite file has."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name")
        return "".join(f"{sql};\n" for (sql,) in rows)
    finally:
        connection.close()


def postgres_schema(connection: Any, schema: str) -> str:
    """All that a schema of PostgreSQL has."""
    found = []
    for sql in (_COLUMNS, _INDEXES, _CONSTRAINTS, _FUNCTIONS):
        found += [row[0] for row in connection.execute(sql, {"schema": schema})]
    lines = "\n".join(found).replace(f"{schema}.", "").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def main() -> None:
    import store_postgres as pg
    from store_backends import Backend

    with tempfile.TemporaryDirectory() as directory:
        one, two = Backend("sqlite", Path(directory)), Backend("postgres", Path(directory))
        one.store(), two.store()
        (FILES / "sqlite.sql").write_text(sqlite_schema(one._path), "utf-8")
        with pg.outside() as connection:
            (FILES / "postgres.sql").write_text(postgres_schema(connection, two._schema), "utf-8")
        one.close(), two.close()


if __name__ == "__main__":
    main()
