-- The first and the last run, line by line: the most that a line had alive at once in any rank.
WITH began AS (
  SELECT run, MIN(started_at) AS started_at FROM runs GROUP BY run
), ends AS (
  SELECT MIN(started_at) AS first_at, MAX(started_at) AS last_at FROM began
), by_stack AS (
  SELECT run, rank, stack_id, MAX(peak_bytes) AS bytes FROM site_steps WHERE layer = 'tensor' GROUP BY run, rank, stack_id
), places AS (
  SELECT DISTINCT run, stack_id, file, line, function FROM stacks WHERE layer = 'tensor'
), by_rank AS (
  SELECT b.run AS run, b.rank AS rank, p.file AS file, p.line AS line, p.function AS function, SUM(b.bytes) AS bytes
  FROM by_stack b JOIN places p ON b.run = p.run AND b.stack_id = p.stack_id
  GROUP BY b.run, b.rank, p.file, p.line, p.function
), by_line AS (
  SELECT run, file, line, function, MAX(bytes) AS bytes FROM by_rank GROUP BY run, file, line, function
)
SELECT l.file AS file, l.line AS line, l.function AS function,
  SUM(CASE WHEN b.started_at = e.first_at THEN l.bytes ELSE 0 END) AS first_bytes,
  SUM(CASE WHEN b.started_at = e.last_at THEN l.bytes ELSE 0 END) AS last_bytes
FROM by_line l JOIN began b ON l.run = b.run CROSS JOIN ends e
WHERE b.started_at = e.first_at OR b.started_at = e.last_at
GROUP BY l.file, l.line, l.function
ORDER BY last_bytes - first_bytes DESC, file, line, function
LIMIT 50
