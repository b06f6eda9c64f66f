"""Asks an engine the queries of a job's folder: ENGINE FOLDER < {"query": [statements]} > {"query": {"columns", "rows"}}.

Values are made comparable: times as milliseconds, numbers of any kind as JSON's.
"""

import datetime
import decimal
import glob
import json
import sys

ENGINE, FOLDER = sys.argv[1:3]
QUERIES = json.load(sys.stdin)
TABLES = ("runs", "ranks", "steps", "stacks", "site_steps", "allocations", "events", "findings")


def plain(value):
    if isinstance(value, datetime.datetime):
        known = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return round(known.timestamp() * 1000)
    if isinstance(value, decimal.Decimal):
        return float(value) if value % 1 else int(value)
    return value


def files(table):
    return sorted(glob.glob(f"{FOLDER}/run=*/rank=*/{table}.*.parquet"))


def answer(columns, rows):
    return {"columns": list(columns), "rows": [[plain(value) for value in row] for row in rows]}


def ask_duckdb():
    import duckdb

    for name, (*views, select) in QUERIES.items():
        connection = duckdb.connect()
        for view in views:
            connection.sql(view)
        result = connection.sql(select)
        yield name, answer(result.columns, result.fetchall())


def ask_pyarrow():
    import duckdb
    import pyarrow.dataset

    connection = duckdb.connect()
    for table in TABLES:
        connection.register(table, pyarrow.dataset.dataset(files(table), format="parquet").to_table())
    for name, (*_, select) in QUERIES.items():
        result = connection.sql(select)
        yield name, answer(result.columns, result.fetchall())


def ask_schemas():
    """Types and rows by table, as pyarrow says them."""
    import pyarrow.dataset

    for table in TABLES:
        data = pyarrow.dataset.dataset(files(table), format="parquet")
        types = {field.name: str(field.type) for field in data.schema}
        yield table, {"types": types, "rows": data.count_rows(), "files": len(files(table))}


def ask_polars():
    import polars

    context = polars.SQLContext({table: polars.scan_parquet(files(table)) for table in TABLES})
    for name, (*_, select) in QUERIES.items():
        result = context.execute(select, eager=True)
        yield name, answer(result.columns, result.rows())


def ask_clickhouse():
    from chdb import session

    for name, (*views, select) in QUERIES.items():
        opened = session.Session()
        for view in views:
            opened.query(view)
        told = json.loads(str(opened.query(select, "JSONCompact")))
        rows = [[clickhouse(value, each["type"]) for value, each in zip(row, told["meta"])] for row in told["data"]]
        yield name, answer([each["name"] for each in told["meta"]], rows)
        opened.close()


def clickhouse(value, kind):
    if value is None or "String" in kind:
        return value
    if "DateTime" in kind:
        return datetime.datetime.fromisoformat(value)
    return float(value) if "Float" in kind else int(value)


def ask_spark():
    from pyspark.sql import SparkSession

    # Small tables: what is made ready for large ones takes most of the time.
    quiet = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in quiet.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for name, (*views, select) in QUERIES.items():
        for view in views:
            spark.sql(view)
        result = spark.sql(select)
        yield name, answer(result.columns, [[spark_time(value) for value in row] for row in result.collect()])
        for table in TABLES:
            spark.catalog.dropTempView(table)
    spark.stop()


def spark_time(value):
    """Spark gives times of the session's zone as ones of this machine's."""
    return value.astimezone(datetime.timezone.utc) if isinstance(value, datetime.datetime) else value


print(json.dumps(dict(globals()[f"ask_{ENGINE}"]())))
