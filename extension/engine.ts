// The process in which a window's traces are read and judged: engine.js DIST [TEXTS], started by `extension/client`.
import './engine/engineLanguage';
import { isMainThread } from 'node:worker_threads';
import { serveForecasts } from './engine/forecastThread';
import { TraceEngine } from './engine/traceEngine';
import type { FromEngine, ToEngine } from './protocol/requests/engineRequests';
import { Outbox } from './protocol/requests/outbox';

// It makes an editor's program run this file; what is started here is to have none of it.
delete process.env.ELECTRON_RUN_AS_NODE;

const [, , dist = ''] = process.argv;
const outbox = new Outbox<FromEngine>(
  packet => process.connected && process.send?.(packet),
  run => setImmediate(run),
);
const engine = new TraceEngine(dist, message => outbox.post(message));
process.on('message', (questions: ToEngine[]) => {
  for (const question of questions) void engine.answer(question);
});
// The window is gone, however it ended.
process.on('disconnect', () => process.exit(0));

// Its threads have no window.
if (!isMainThread) serveForecasts();
