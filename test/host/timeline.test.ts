// The timeline in VS Code: zoom and pan, a span, its peak, and the rows of those moments, by mouse and by keyboard.
import * as assert from 'node:assert/strict';
import { inLong } from '../long.mjs';
import { sentencesOf } from './hostSentences';
import { FIRST, freshPage, inThemes, picture, reached, rowAt, trace, writeScript } from './pageActions';
import { attribute, behind, click, drag, press, rows, texts, until, violations, wheel } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const SURFACE = '.timeline-surface';
const PLOT = '.timeline-overlay';
const PAUSE_S = 1.5;

/** What is alive changes three times, at about 4, 36 and 68 % of the run. */
const JOB = `big = ctypes.c_uint64()
allocate(ctypes.byref(address), ctypes.c_size_t(${64 * MB}))
time.sleep(${PAUSE_S})
allocate(ctypes.byref(big), ctypes.c_size_t(${200 * MB}))
allocate(ctypes.byref(address), ctypes.c_size_t(${16 * MB}))
time.sleep(${PAUSE_S})
cuda.cuMemFree_v2(big)
allocate(ctypes.byref(address), ctypes.c_size_t(${32 * MB}))
time.sleep(${PAUSE_S})
`;
const LINES = { first: FIRST + 1, big: FIRST + 3, kept: FIRST + 4, last: FIRST + 7 };

type Lines = readonly (readonly [line: number, megabytes: number])[];
const KEPT: Lines = [[LINES.kept, 16]];
const PEAK: Lines = [
  [LINES.big, 200],
  [LINES.first, 64],
  [LINES.kept, 16],
];
const NOW: Lines = [
  [LINES.first, 64],
  [LINES.last, 32],
  [LINES.kept, 16],
];

/** The table shows how much is alive, and its rows (those in view) show where, once they are as expected. */
async function shown(expected: Lines): Promise<void> {
  const sum = expected.reduce((all, [, megabytes]) => all + megabytes, 0);
  const words = `${expected.length} line${expected.length === 1 ? '' : 's'} · ${expected.length} block${expected.length === 1 ? '' : 's'} · ${sum} MiB`;
  const lines = expected.map(([line, megabytes]) => `line ${line} ${megabytes} MiB`);
  let seen = '';
  await until('the rows of the moment', async () => {
    const [sums] = await texts('[data-value=sums]');
    const all = (await rows()).map(row => `line ${row.line} ${row.cells.live ?? ''}`);
    seen = `${sums}: ${all.join(', ')}`;
    return sums === words && all.length > 0 && all.every((row, i) => row === lines[i]);
  }).catch(async () => {
    await picture('timeline-unexpected');
    assert.equal(seen, `${words}: ${lines.join(', ')}`);
  });
}

/** Status bar and line ends of the editor are of that moment too. */
async function besides(live: string, lineEnds: readonly string[]): Promise<void> {
  let seen: unknown = null;
  await until('the same moment beside the page', async () => {
    const [bar = ''] = await texts('[id*="gpuMemoryTrace.live"]');
    seen = [bar.trim(), await behind('.monaco-editor .view-line span')];
    return JSON.stringify(seen) === JSON.stringify([live, lineEnds]);
  }).catch(() => assert.deepEqual(seen, [live, lineEnds]));
}

async function heading(): Promise<string> {
  return (await texts('.list-head h2'))[0] ?? '';
}
async function described(): Promise<string> {
  return (await attribute(SURFACE, 'aria-label')) ?? '';
}
/** The chart's description has the begin and the end of its window. */
async function windowText(): Promise<string> {
  return /from (.*?) to (.*?)\./.exec(await described())?.[0] ?? '';
}
/** Until the chart has another window than this one. */
async function moved(from: string): Promise<string> {
  return until('another window', async () => {
    const now = await windowText();
    return now !== from ? now : '';
  });
}

describe('The timeline', () => {
  before(async () => {
    await freshPage();
    const file = writeScript('moments.py', JOB);
    await trace(file);
    await reached('ended');
    await rowAt(file, LINES.last);
    await shown(NOW);
    if ((await attribute('.timeline-tools', 'data-shown')) !== 'true') await click('[data-action=timeline-tools]');
  });

  inLong(it)('zooms by wheel, and shows the whole run again', async () => {
    const whole = await windowText();
    await wheel(SURFACE, 0.5, -300);
    await moved(whole);
    await click('[data-action=follow]');
    await until('the whole run', async () => (await windowText()) === whole);
  });

  inLong(it)('zooms by keyboard, and goes to the first moment and back to now', async () => {
    const whole = await windowText();
    await press(SURFACE, '+');
    const zoomed = await moved(whole);
    await press(SURFACE, 'Home');
    await moved(zoomed);
    await until('the first moment', async () => /^Live at /.test(await heading()));
    await press(SURFACE, 'Escape');
    await shown(NOW);
    await press(SURFACE, '0');
    await until('the whole run', async () => (await windowText()) === whole);
  });

  it('a click shows the moment under it, and Escape leads back', async () => {
    await drag(PLOT, 0.5, 0.5);
    await shown(PEAK);
    await press(SURFACE, 'Escape');
    await shown(NOW);
  });

  inLong(it)('a span that is drawn shows what was allocated in it and is still alive', async () => {
    await drag(PLOT, 0.22, 0.52);
    await click('[data-action=span-born]');
    await shown(KEPT);
    assert.match(await heading(), /^Allocated .* live,/);
    await inThemes('timeline');
  });

  inLong(it)('shows what was alive at the end of the span, and its peak', async () => {
    await click('[data-action=span-end]');
    await shown(PEAK);
    assert.match(await heading(), /^Live at /);
    await click('[data-action=span-peak]');
    await shown(PEAK);
    assert.match(await heading(), /^Live .*peak .*, 280 MiB,/);
    await click('[data-action=span-clear]');
    await shown(NOW);
  });

  it('a click on the peak shows who was alive at it', async () => {
    assert.match((await texts('[data-mark=peak]'))[0] ?? '', /280 MiB/);
    await besides('112 MiB at the end', ['64 MiB', 'peak 200 MiB', '16 MiB', '32 MiB']);
    await click('[data-mark=peak]');
    await shown(PEAK);
    assertSentence(await heading());
    await besides('280 MiB at the peak', ['64 MiB', '200 MiB', '16 MiB', 'peak 32 MiB']);
    await click('[data-action=moment-now]');
    await shown(NOW);
  });

  inLong(it)('does the same by keyboard: span, moved, applied, cleared; peak', async () => {
    await press(SURFACE, 'Shift+ArrowRight');
    for (let i = 0; i < 8; i++) await press(SURFACE, 'Shift+ArrowDown');
    await press(SURFACE, 'Enter');
    await shown(KEPT);
    assert.match(await heading(), /^Allocated .* live/);
    await press(SURFACE, 'Escape');
    await until('no span', async () => (await texts('[data-value=span]')).every(text => text === ''));
    await press('[data-mark=peak]', 'Enter');
    await shown(PEAK);
    await press('[data-action=moment-now]', 'Enter');
    await shown(NOW);
  });

  inLong(it)('shows what was alive at the end of a span, and at its peak, by keyboard', async () => {
    await press(SURFACE, 'Shift+ArrowRight');
    for (let i = 0; i < 8; i++) await press(SURFACE, 'Shift+ArrowDown');
    await press('[data-action=span-end]', 'Enter');
    await shown(PEAK);
    await press('[data-action=span-peak]', 'Enter');
    await shown(PEAK);
    assert.match(await heading(), /^Live .*peak .*, 280 MiB,/);
    await press('[data-action=span-clear]', 'Enter');
    await shown(NOW);
  });

  inLong(it)('stacks what was alive by line, by thread or as one area: by mouse and by keyboard', async () => {
    const control = '[data-control=stack]';
    const groups = (expected: RegExp): Promise<true> =>
      until(`areas ${expected}`, async () => {
        const names = (await texts('.legend-groups li', 300)).join(', ');
        if (expected.test(names)) return true as const;
        throw new Error(names);
      });
    const lines = new RegExp(`moments\\.py:${LINES.first}.*rest`, 's');
    await groups(lines);
    await click(control);
    await click(`${control} vscode-option[value=thread-alive]`);
    await groups(/^main thread.*rest/s);
    await press(control, 'ArrowDown');
    await until('one area', async () => (await attribute('.legend-groups', 'hidden')) === '');
    await press(control, 'Home');
    await groups(lines);
  });

  inLong(it)('has nothing that axe-core finds wrong', async () => {
    assert.deepEqual(await violations('.timeline'), []);
  });
});
