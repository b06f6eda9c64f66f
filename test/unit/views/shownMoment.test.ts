// What stands beside the pages (editors, status bar) is of the moment that a page shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { EngineProcess } from '../../../extension/client/engineProcess';
import type { Moment } from '../../../extension/protocol/requests/moment';
import type { Sessions } from '../../../extension/views/session/sessions';
import { importWith } from '../fakeVscode';

class EventEmitter {
  private readonly listeners: ((value: unknown) => void)[] = [];
  readonly event = (listener: (value: unknown) => void): void => void this.listeners.push(listener);
  fire(value: unknown): void {
    for (const listener of this.listeners) listener(value);
  }
}
const parts = { EventEmitter, workspace: { isTrusted: true }, l10n: { t: String } };
const ENDING = { timeNs: 90, when: 'at the end of step 9', bytes: 9, title: '', reason: '', show: '' };
const at = (timeNs: number): Moment => ({ kind: 'at', timeNs });

async function openTrace() {
  const { OpenTrace } = await importWith(parts, () => import('../../../extension/views/session/openTrace'));
  let news: (facts: object) => void = () => undefined;
  const asked: unknown[] = [];
  const engine = {
    open: (of: { news: typeof news }) => Promise.resolve((news = of.news)),
    request: (_method: string, { moment }: { moment: Moment }) => {
      asked.push(moment);
      const timeNs = moment.kind === 'at' ? moment.timeNs : 0;
      return Promise.resolve(
        moment.kind === 'now' ? { when: 'at the end', bytes: null } : { when: `at ${timeNs}`, bytes: timeNs },
      );
    },
  };
  class Opened extends OpenTrace {
    begin = (): Promise<void> => this.open({ path: '/x', directory: null, findsHolders: false });
  }
  const trace = new Opened('a.py', engine as unknown as EngineProcess);
  await trace.begin();
  news({ info: { totals: [{ layer: 'tensor', liveBytes: 2 }], session: {}, processes: [], steps: [] } });
  const changes: unknown[] = [];
  trace.onDidChangeBeside(() => changes.push(trace.shownMoment.when));
  const set = async (moment: Moment): Promise<unknown[]> => {
    trace.setMoment({ moment, title: '' });
    await setImmediate();
    const { when, isChosen } = trace.shownMoment;
    return [when, trace.liveBytes, isChosen];
  };
  return { trace, news, asked, changes, set };
}

test('a moment that is chosen on a page is that of the figures, until the page shows the usual one again', async () => {
  const { trace, news, asked, changes, set } = await openTrace();
  assert.deepEqual(await set({ kind: 'now' }), [null, 2, false]);
  assert.deepEqual(await set(at(30)), ['at 30', 30, true]);
  assert.deepEqual(trace.shownMoment.moment, at(30));
  news({ ending: ENDING });
  assert.equal(trace.shownMoment.when, 'at 30', 'the user looks at it, also when the run has ended');
  assert.deepEqual(await set(at(90)), [ENDING.when, 9, false]);
  assert.deepEqual(await set({ kind: 'now' }), ['at the end', 2, true], 'the end, where another moment stands for it');
  await set({ kind: 'now' });
  assert.deepEqual(changes, [null, 'at 30', ENDING.when, 'at the end'], 'each once');
  assert.deepEqual(asked, [at(30), { kind: 'now' }]);
});

test('a moment that is chosen on a page is that of all pages, until the present gives way to the end of the run', async () => {
  const { trace, news, set } = await openTrace();
  const pages: unknown[] = [];
  trace.onDidChange(() => pages.push(trace.view().shown?.moment));
  assert.equal(trace.view().shown, undefined);
  await set(at(30));
  await set(at(30));
  await set({ kind: 'now' });
  assert.deepEqual(pages, [at(30), { kind: 'now' }], 'each once');
  news({ ending: ENDING });
  assert.equal(trace.view().shown, undefined, 'each page brings up what is shown instead of the end');
  await set({ kind: 'now' });
  news({ ending: { ...ENDING } });
  assert.deepEqual(trace.view().shown?.moment, { kind: 'now' }, 'the end itself was chosen');
});

test('once no page shows the chosen moment any more, the usual one is shown again', async () => {
  const { trace, news, set } = await openTrace();
  trace.leaveMoment();
  assert.equal(trace.view().shown, undefined, 'none was chosen');
  const leave = async (): Promise<unknown[]> => {
    await set(at(30));
    trace.leaveMoment();
    await setImmediate();
    return [trace.view().shown?.moment, trace.liveBytes, trace.shownMoment.isChosen];
  };
  assert.deepEqual(await leave(), [{ kind: 'now' }, 2, false]);
  news({ ending: ENDING });
  assert.deepEqual(await leave(), [at(ENDING.timeNs), 9, false]);
});

test('the editor requests its figures together with the page, before the trace moves on', async () => {
  const { modelOf } = await importWith(
    { ...parts, window: {} },
    () => import('../../../extension/views/page/windowModel'),
  );
  const order: string[] = [];
  const log = (name: string) => ({
    setLate: (_: number, late: boolean) => order.push(`${name} ${late}`),
    changed: () => order.push(`${name} changed`),
  });
  const model = modelOf({ shown: log('trace'), beside: log('beside') } as unknown as Sessions, true);
  model.setLate(1, true);
  model.setLate(1, false);
  model.answered(1);
  assert.deepEqual(order, ['trace true', 'beside true', 'beside false', 'trace false', 'beside changed']);
});
