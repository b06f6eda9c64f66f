-- The peak of each rank, the highest first.
SELECT run, rank, MIN(host) AS host, MAX(step) AS steps, MAX(peak_bytes) AS peak_bytes,
  MAX(reserved_bytes) AS reserved_bytes, MAX(used_bytes) AS used_bytes
FROM steps
GROUP BY run, rank
ORDER BY peak_bytes DESC, run, rank
