-- What PyTorch's cache held beside its tensors at the ends of steps, by node.
SELECT run, host, COUNT(DISTINCT rank) AS ranks, MAX(reserved_bytes - live_bytes) AS most_unused_bytes,
  AVG(CAST(reserved_bytes - live_bytes AS DOUBLE)) AS mean_unused_bytes
FROM steps
WHERE reserved_bytes IS NOT NULL
GROUP BY run, host
ORDER BY most_unused_bytes DESC, run, host
