// What comes from the page is checked before the host acts on it.
import { blockChecks } from './blockRequests';
import { isFields } from '../../base/fields';
import { isIndex, Refused, type Checks } from './fieldChecks';
import { compareChecks } from './compareRequests';
import { forecastChecks } from './forecastRequests';
import type { Method, Requests, ToHost } from './messages';
import { ledgerChecks } from './ledgerRequests';
import { segmentChecks } from './segmentRequests';
import { sessionChecks } from './sessionRequests';
import { timelineChecks } from './timelineRequests';
import { traceChecks } from './traceRequests';
import { treeChecks } from './treeRequests';
import { verdictChecks } from './verdictRequests';

/** The message, or why it is refused; `id` where an answer can be sent. */
export type Checked = { ok: true; message: ToHost } | { ok: false; id: number | null; error: string };

const CHECKS: Checks<Requests> = {
  ...traceChecks,
  ...timelineChecks,
  ...treeChecks,
  ...compareChecks,
  ...sessionChecks,
  ...blockChecks,
  ...ledgerChecks,
  ...segmentChecks,
  ...forecastChecks,
  ...verdictChecks,
};

/** All requests of the page. */
export const METHODS = Object.keys(CHECKS) as Method[];

/** Messages that travel together; the page never sends more at once. */
const MOST_AT_ONCE = 256;

/** Checks what came from the page: a message, or some that travelled together. Never throws. */
export function checkMessages(packet: unknown): Checked[] {
  if (!isFields(packet) || packet.type !== 'batch') return [checkMessage(packet)];
  const { messages } = packet;
  if (Array.isArray(messages) && messages.length <= MOST_AT_ONCE) return messages.map(checkMessage);
  return [{ ok: false, id: null, error: `a batch must be a list of at most ${MOST_AT_ONCE} messages` }];
}

/** Checks one message. Never throws. */
export function checkMessage(value: unknown): Checked {
  const fields = isFields(value) ? value : null;
  const id = fields !== null && isIndex(fields.id) ? fields.id : null;
  try {
    if (fields === null) throw new Refused('a message must be an object');
    if (fields.type === 'ready') return { ok: true, message: { type: 'ready' } };
    if (fields.type !== 'request') throw new Refused('the type of a message must be "ready" or "request"');
    if (id === null) throw new Refused('a request must have an id, which is a whole number');
    return { ok: true, message: request(id, fields.method, fields.params) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, id, error: error.message };
    throw error;
  }
}

function request(id: number, name: unknown, params: unknown): ToHost {
  if (typeof name !== 'string' || !Object.hasOwn(CHECKS, name))
    throw new Refused(`unknown request ${JSON.stringify(name)}`);
  const method = name as Method;
  return { type: 'request', id, method, params: CHECKS[method](params, method) } as ToHost;
}
