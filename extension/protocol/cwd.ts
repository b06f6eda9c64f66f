/** The folder that relative file names of a trace count from, of the launcher's facts (`TraceInfo.session`). */
export function cwdOf({ cwd }: Record<string, unknown>): string {
  return typeof cwd === 'string' ? cwd : '/';
}
