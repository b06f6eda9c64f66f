// The libraries of a process, from `/proc/PID/maps`.

/**
 * Paths of the files with executable code that a process has mapped, each once. A file that was replaced while it was in
 * use keeps its path (the kernel marks it as deleted).
 */
export function mappedPrograms(maps: string): string[] {
  const paths = new Set<string>();
  for (const line of maps.split('\n')) {
    // address perms offset dev inode path; the path may hold spaces, and newlines as \012.
    const match = /^[0-9a-f]+-[0-9a-f]+ ..x. \S+ \S+ \d+ +(\/.*)$/.exec(line);
    const path = match?.[1];
    if (path !== undefined) paths.add(path.replace(/ \(deleted\)$/, '').replaceAll('\\012', '\n'));
  }
  return [...paths];
}

/** The CUDA drivers among the mapped files: `libcuda.so`, `libcuda.so.1`, `libcuda.so.580.95.05`. */
export function cudaDrivers(maps: string): string[] {
  return mappedPrograms(maps).filter(path => /\/libcuda\.so(\.[\d.]+)?$/.test(path));
}
