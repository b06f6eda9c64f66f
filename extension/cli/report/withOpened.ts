import { closeTrace, openTrace, type Opened } from '../../jobs/openTraceFile';
import { refuse } from './output';

/** Works with a trace as `openTrace` opens it. What cannot be opened is said; the exit status is then 1. */
export async function withOpened(
  file: string,
  dist: string,
  use: (opened: Opened) => Promise<number>,
): Promise<number> {
  const opened = await openTrace(file, dist);
  if ('error' in opened) return refuse(opened.error, 1);
  try {
    return await use(opened);
  } finally {
    closeTrace(opened);
  }
}
