"""What a job's folder of writeJob.mjs takes: python test/bench/jobs/measure.py FOLDER [TIMES]. Needs duckdb. The best of some times is printed.

elapsed is what a person waits; cpu tells what it would be on idle cores: on two, half of it where both work.
"""

import glob
import json
import os
import subprocess
import sys
import time

import duckdb

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CLI = ["node", os.path.join(ROOT, "dist/cli.js")]
FOLDER = os.path.abspath(sys.argv[1])
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 5


def program(words):
    """Seconds, seconds of processor time, and MB of memory that a program took."""
    begin = time.time()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{words} failed")
    return time.time() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def query(name):
    text = subprocess.run([*CLI, "sql", FOLDER, name, "--print"], capture_output=True, text=True, check=True).stdout
    best = None
    for _ in range(TIMES):
        connection = duckdb.connect(config={"threads": 2})
        begin, cpu = time.time(), time.process_time()
        for statement in text.split(";\n"):
            rows = connection.execute(statement).fetchall() if statement.strip() else rows
        took = (time.time() - begin, time.process_time() - cpu, len(rows))
        best = min(best or took, took)
    return best


sizes = {}
for file in glob.glob(f"{FOLDER}/run=*/rank=*/*"):
    table = os.path.basename(file).split(".", 1)[0]
    sizes.setdefault(table, []).append(os.path.getsize(file))
ranks = len(sizes["summary"])
print(f"{ranks} ranks; bytes a rank:", {name: round(sum(all) / ranks) for name, all in sorted(sizes.items())})
print(f"in all {sum(map(sum, sizes.values())) / ranks / 1e6:.2f} MB a rank, {sum(map(len, sizes.values()))} files")
for words in (["--format", "json"], []):
    took, cpu, mb = min(program([*CLI, "report", FOLDER, *words]) for _ in range(TIMES))
    print(f"report {' '.join(words):16} elapsed {took:.2f} s, cpu {cpu:.2f} s, {mb:.0f} MB")
view = [json.loads(subprocess.run(["node", os.path.join(ROOT, "test/bench/jobs/view.mjs"), FOLDER], capture_output=True, text=True, check=True).stdout) for _ in range(TIMES)]
for part in ("read", "view", "findings", "readAgain"):
    best = min(view, key=lambda each: each[part]["seconds"])
    print(f"in process, {part:10} elapsed {best[part]['seconds']:.3f} s, cpu {best[part]['cpu']:.3f} s, {best['rssMb']:.0f} MB")
for file in sorted(glob.glob(f"{ROOT}/extension/exporters/parquet/queries/*.sql")):
    name = os.path.basename(file)[:-4]
    took, cpu, rows = query(name)
    print(f"sql {name:24} elapsed {took:.2f} s, cpu {cpu:.2f} s, {rows} rows")
