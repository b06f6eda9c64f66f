/** Where the source files of a trace are. */
export interface SourceFolders {
  /** Relative file names of the trace count from it. */
  cwd: string;
  /** Of the saved trace itself, which may have been brought here with its sources; null: the trace is recorded now. */
  beside: string | null;
}

/** The folder that relative file names of a trace count from, of the launcher's facts (`TraceInfo.session`). */
export function cwdOf({ cwd }: Record<string, unknown>): string {
  return typeof cwd === 'string' ? cwd : '/';
}
