-- How live bytes grow in each process of a rank: the slope over its steps, bytes a step, the steepest first.
SELECT run, rank, host, pid, device, COUNT(*) AS points,
  (AVG(CAST(step AS DOUBLE) * live_bytes) - AVG(CAST(step AS DOUBLE)) * AVG(CAST(live_bytes AS DOUBLE)))
    / (AVG(CAST(step AS DOUBLE) * step) - AVG(CAST(step AS DOUBLE)) * AVG(CAST(step AS DOUBLE))) AS bytes_per_step
FROM steps
GROUP BY run, rank, host, pid, device
HAVING COUNT(*) > 2
ORDER BY bytes_per_step DESC, run, rank, host, pid, device
