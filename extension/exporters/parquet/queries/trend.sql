-- Runs in their order: the peak, and the line that grows fastest.
WITH began AS (
  SELECT run, MIN(started_at) AS started_at, MAX(branch) AS branch, MAX(commit) AS version FROM runs GROUP BY run
), peaks AS (
  SELECT run, COUNT(DISTINCT rank) AS ranks, MAX(peak_bytes) AS peak_bytes FROM ranks GROUP BY run
), growing AS (
  SELECT run, MAX(bytes_per_step) AS bytes_per_step FROM findings WHERE verdict = 'leak' GROUP BY run
), places AS (
  SELECT f.run AS run, MIN(f.file) AS file, MIN(f.line) AS line
  FROM findings f JOIN growing g ON f.run = g.run AND f.bytes_per_step = g.bytes_per_step
  WHERE f.verdict = 'leak'
  GROUP BY f.run
)
SELECT b.run AS run, b.started_at AS started_at, b.branch AS branch, b.version AS version, p.ranks AS ranks,
  p.peak_bytes AS peak_bytes, g.bytes_per_step AS bytes_per_step, l.file AS file, l.line AS line
FROM began b JOIN peaks p ON b.run = p.run LEFT JOIN growing g ON b.run = g.run LEFT JOIN places l ON b.run = l.run
ORDER BY started_at, run
