/** What `work` gives; `otherwise` where it throws. */
export function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
