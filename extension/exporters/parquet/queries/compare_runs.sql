-- The first and the last run, line by line: the most that a line had alive at once in any rank.
WITH began AS (
  SELECT run, MIN(started_at) AS started_at FROM runs GROUP BY run
), ends AS (
  SELECT MIN(started_at) AS first_at, MAX(started_at) AS last_at FROM began
), by_process AS (
  SELECT run, rank, host, pid, file, line, function, SUM(peak_bytes) AS bytes
  FROM stacks WHERE layer = 'tensor' GROUP BY run, rank, host, pid, file, line, function
), by_line AS (
  SELECT run, file, line, function, MAX(bytes) AS bytes FROM by_process GROUP BY run, file, line, function
)
SELECT l.file AS file, l.line AS line, l.function AS function,
  SUM(CASE WHEN b.started_at = e.first_at THEN l.bytes ELSE 0 END) AS first_bytes,
  SUM(CASE WHEN b.started_at = e.last_at THEN l.bytes ELSE 0 END) AS last_bytes
FROM by_line l JOIN began b ON l.run = b.run CROSS JOIN ends e
WHERE b.started_at = e.first_at OR b.started_at = e.last_at
GROUP BY l.file, l.line, l.function
ORDER BY last_bytes - first_bytes DESC, file, line, function
LIMIT 50
