import type { TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import type { LineText } from './kinds/findingContext';
import { judgeTrace } from './judgeTrace';

const known = new WeakMap<TraceSource, Verdicts>();

/** The verdicts of this moment; judged once for each revision of a trace. */
export function verdictsOf(source: TraceSource, lineText?: LineText): Verdicts {
  const before = known.get(source);
  if (before !== undefined && before.revision === source.info().revision) return before;
  const verdicts = judgeTrace(source, lineText);
  known.set(source, verdicts);
  return verdicts;
}
