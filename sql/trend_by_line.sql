-- Each line over the runs, oldest first: the most that it had alive at once in any rank, and how it grew.
WITH began AS (
  SELECT run, MIN(started_at) AS started_at, MAX(branch) AS branch FROM runs GROUP BY run
), by_stack AS (
  SELECT run, rank, stack_id, MAX(peak_bytes) AS bytes FROM site_steps WHERE layer = 'tensor' GROUP BY run, rank, stack_id
), places AS (
  SELECT DISTINCT run, stack_id, file, line, function FROM stacks WHERE layer = 'tensor'
), by_rank AS (
  SELECT b.run AS run, b.rank AS rank, p.file AS file, p.line AS line, p.function AS function, SUM(b.bytes) AS bytes
  FROM by_stack b JOIN places p ON b.run = p.run AND b.stack_id = p.stack_id
  GROUP BY b.run, b.rank, p.file, p.line, p.function
), by_line AS (
  SELECT run, file, line, function, MAX(bytes) AS peak_bytes FROM by_rank GROUP BY run, file, line, function
), growing AS (
  SELECT run, file, line, MAX(bytes_per_step) AS bytes_per_step FROM findings WHERE verdict = 'leak' GROUP BY run, file, line
)
SELECT l.file AS file, l.line AS line, l.function AS function, b.branch AS branch, l.run AS run, b.started_at AS started_at,
  l.peak_bytes AS peak_bytes, g.bytes_per_step AS bytes_per_step
FROM by_line l JOIN began b ON l.run = b.run
  LEFT JOIN growing g ON l.run = g.run AND l.file = g.file AND l.line = g.line
ORDER BY file, line, function, started_at, run
