-- Lines that have more alive at once in some ranks than in others of the run, or are not in all of them.
WITH by_stack AS (
  SELECT run, rank, stack_id, MAX(peak_bytes) AS bytes FROM site_steps WHERE layer = 'tensor' GROUP BY run, rank, stack_id
), places AS (
  SELECT DISTINCT run, stack_id, file, line, function FROM stacks WHERE layer = 'tensor'
), by_line AS (
  SELECT b.run AS run, b.rank AS rank, p.file AS file, p.line AS line, p.function AS function, SUM(b.bytes) AS bytes
  FROM by_stack b JOIN places p ON b.run = p.run AND b.stack_id = p.stack_id
  GROUP BY b.run, b.rank, p.file, p.line, p.function
), whole AS (
  SELECT run, COUNT(DISTINCT rank) AS ranks FROM ranks GROUP BY run
)
SELECT l.run AS run, l.file AS file, l.line AS line, l.function AS function, COUNT(*) AS ranks,
  MIN(l.bytes) AS least_bytes, MAX(l.bytes) AS most_bytes
FROM by_line l JOIN whole w ON l.run = w.run
GROUP BY l.run, l.file, l.line, l.function
HAVING MAX(l.bytes) > MIN(l.bytes) * 1.05 OR COUNT(*) < MAX(w.ranks)
ORDER BY MAX(l.bytes) - MIN(l.bytes) DESC, run, file, line, function
LIMIT 50
