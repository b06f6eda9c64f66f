-- Lines that have more alive at once in some ranks than in others of the run, or are not in all of them.
WITH by_process AS (
  SELECT run, rank, host, pid, file, line, function, SUM(peak_bytes) AS bytes
  FROM stacks WHERE layer = 'tensor' GROUP BY run, rank, host, pid, file, line, function
), by_line AS (
  SELECT run, rank, file, line, function, MAX(bytes) AS bytes FROM by_process GROUP BY run, rank, file, line, function
), whole AS (
  SELECT run, COUNT(DISTINCT rank) AS ranks FROM stacks GROUP BY run
)
SELECT l.run AS run, l.file AS file, l.line AS line, l.function AS function, COUNT(*) AS ranks,
  MIN(l.bytes) AS least_bytes, MAX(l.bytes) AS most_bytes
FROM by_line l JOIN whole w ON l.run = w.run
GROUP BY l.run, l.file, l.line, l.function
HAVING MAX(l.bytes) > MIN(l.bytes) * 1.05 OR COUNT(*) < MAX(w.ranks)
ORDER BY most_bytes - least_bytes DESC, run, file, line, function
LIMIT 50
