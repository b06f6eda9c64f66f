import { closeTrace, openTrace, type Opened } from '../../jobs/openTraceFile';
import { refuse } from '../output/output';

/** Opens a trace and passes it on. If it cannot be opened, stderr gets the reason and the exit status is 1. */
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
