-- Each line over the runs, oldest first: the most that it had alive at once in any rank, and how it grew.
WITH began AS (
  SELECT run, MIN(started_at) AS started_at, MAX(branch) AS branch FROM runs GROUP BY run
), by_process AS (
  SELECT run, rank, host, pid, file, line, function, SUM(peak_bytes) AS bytes
  FROM stacks WHERE layer = 'tensor' GROUP BY run, rank, host, pid, file, line, function
), by_line AS (
  SELECT run, file, line, function, MAX(bytes) AS peak_bytes FROM by_process GROUP BY run, file, line, function
), growing AS (
  SELECT run, file, line, MAX(bytes_per_step) AS bytes_per_step FROM findings WHERE verdict = 'leak' GROUP BY run, file, line
)
SELECT l.file AS file, l.line AS line, l.function AS function, b.branch AS branch, l.run AS run, b.started_at AS started_at,
  l.peak_bytes AS peak_bytes, g.bytes_per_step AS bytes_per_step
FROM by_line l JOIN began b ON l.run = b.run
  LEFT JOIN growing g ON l.run = g.run AND l.file = g.file AND l.line = g.line
ORDER BY file, line, function, started_at, run
