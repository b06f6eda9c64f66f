// `report --format html`: a trace as one page, on disk, in stock browsers, beside the JSON document of the same trace.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { siteRows, type AllocationWindow, type SiteWindow } from '../../../extension/protocol/trace';
import type { FindingsView } from '../../../extension/protocol/requests/verdictRequests';
import type { CardLedger } from '../../../extension/protocol/requests/ledgerRequests';
import { RecordedAnswers } from '../../../webview/recorded/recordedAnswers';
import { unpack } from '../../../webview/recorded/unpack';
import { DRIVER_SCRIPT, Place, python, root } from '../launcher';

const SAMPLE = join(root, 'media/sample/finetune.gputrace');
const BROWSERS = ['chromium', 'firefox'] as const;
const ATTACK = '</script><img src=x onerror="window.attacked=true"><script>window.attacked=true</script>';

async function written(place: Place, trace: string, ...more: string[]): Promise<string> {
  const file = place.path('t.html');
  const { status, stdout, stderr } = await place.run(['report', trace, '--format', 'html', '-o', file, ...more]);
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  return file;
}

const dataOf = (file: string): string => /id="recorded">([^<]*)</.exec(readFileSync(file, 'utf8'))?.[1] ?? '';

async function opened(file: string) {
  const { session, valueOf } = await unpack(dataOf(file));
  const answers = new RecordedAnswers(session, valueOf, () => Promise.resolve());
  return { session, info: session.info!, ask: <T>(method: never, of: unknown) => answers.answer(method, of) as T };
}

interface Seen {
  skipped?: string;
  title: string;
  errors: string[];
  wrong: string[];
  attacked: boolean;
  rows: string[];
  findings: string[];
  width: [number, number];
  /** Of Chromium: controls that would be on paper, and the theme there. */
  printed?: { controls: number; paper: string };
}

/** What a browser shows of it; null: it is not installed. */
function seenIn(t: TestContext, browser: (typeof BROWSERS)[number], file: string, expected = {}): Seen | null {
  const words = [join(root, 'test/cli/html/browsers.mjs'), browser, file, JSON.stringify(expected)];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const seen = JSON.parse(stdout) as Seen;
  if (seen.skipped === undefined) return seen;
  t.skip(seen.skipped);
  return null;
}

/** Numbers at one place of two values, as far as both have them. */
function sameNumbers(found: Record<string, unknown>, expected: Record<string, unknown>, where: string): number {
  const names = Object.keys(expected).filter(
    name => typeof expected[name] === 'number' && name in found && name !== 'id',
  );
  for (const name of names) assert.equal(found[name], expected[name], `${where} ${name}`);
  return names.length;
}

type Row = Record<string, unknown> & { layer: string; address: string; id: number; key: string };

for (const [at, name] of [[null, 'at its end'] as const, ['step:42', 'at the end of a step'] as const])
  test(`the page has the numbers of the JSON document ${name}`, async t => {
    const place = new Place(t);
    const page = await opened(await written(place, SAMPLE));
    const words = at === null ? [] : ['--at', at];
    const ran = await place.run(['report', SAMPLE, '--format', 'json', ...words]);
    const report = JSON.parse(ran.stdout) as Record<'totals' | 'sites' | 'allocations' | 'findings' | 'ledger', Row[]>;
    const steps = await page.ask<{ axis: { endNs: number[]; last: number[] } }>('timelineSteps' as never, {
      points: 2048,
    });
    const endNs = steps.axis.endNs[steps.axis.last.indexOf(42)];
    const moment = at === null ? undefined : { kind: 'at', timeNs: Math.floor(endNs ?? 0) };
    let numbers = 0;
    for (const layer of ['tensor', 'driver', 'host']) {
      const query = { layer, descending: true, from: 0, to: 1e6, moment };
      const order = { groupBy: 'site', sort: 'liveBytes', includeDead: true };
      const sites = await page.ask<SiteWindow>('sites' as never, { ...query, ...order });
      const rows = new Map(siteRows(sites).map(row => [row.id, row]));
      for (const site of report.sites.filter(one => one.layer === layer))
        numbers += sameNumbers({ ...rows.get(site.id) }, site, `${layer} site ${site.id}`);
      const blocks = await page.ask<AllocationWindow>('allocations' as never, { ...query, sort: 'bytes' });
      const shown = report.allocations.filter(one => one.layer === layer);
      if (at === null) assert.equal(blocks.total, shown.length);
      const byAddress = new Map(shown.map(one => [one.address, one]));
      for (let i = 0; i < blocks.rows; i++) {
        const block = byAddress.get(`0x${blocks.address[i]!.toString(16)}`)!;
        const { ageSteps, bytes, site } = block;
        assert.deepEqual([blocks.ageSteps[i], blocks.bytes[i], blocks.site[i]], [ageSteps, bytes, site]);
        numbers += 3;
      }
    }
    if (at === null) {
      for (const [i, totals] of report.totals.entries())
        numbers += sameNumbers({ ...page.info.totals[i] }, totals, `totals ${i}`);
      const { findings } = await page.ask<FindingsView>('findings' as never, undefined);
      for (const [i, finding] of report.findings.entries())
        numbers += sameNumbers({ ...findings[i] }, finding, `finding ${i}`);
      const [card] = await page.ask<CardLedger[]>('ledger' as never, {});
      assert.equal(card?.parts.find(({ kind }) => kind === 'tensor')?.bytes, report.ledger[0]?.tensorBytes);
    }
    assert.ok(numbers > 500, `${numbers}`);
  });

for (const browser of BROWSERS)
  test(`${browser} opens the page from disk, without a network, as wide as a phone`, async t => {
    const place = new Place(t);
    const seen = seenIn(t, browser, await written(place, SAMPLE), {
      tabs: {
        'Flame graph': 'loss_of',
        Segments: '1,060 segments',
        Compare: '+4.11 GiB',
        Table: 'LanguageModel.',
      },
      keys: [
        ['Home', '83.13 MiB'],
        ['ArrowRight', '251'],
        ['ArrowLeft', '83.13 MiB'],
        ['End', '4.41 GiB'],
      ],
    });
    if (seen === null) return;
    assert.deepEqual([seen.errors, seen.wrong, seen.attacked], [[], [], false]);
    assert.equal(seen.title, 'finetune.py');
    assert.match(seen.rows[1] ?? '', /^(finetune\.py)?:22.*4\.41 GiB/);
    assert.match(seen.findings[0] ?? '', /finetune\.py:47/);
    assert.ok(seen.width[0] <= seen.width[1], `${seen.width}`);
    if (browser === 'chromium') assert.deepEqual(seen.printed, { controls: 0, paper: 'light' });
  });

test('names of a traced program stay text in the page', async t => {
  const place = new Place(t);
  const job = place.write(
    'job.py',
    `${DRIVER_SCRIPT}
EVIL = ${JSON.stringify(ATTACK)}
source = "def step():\\n  check(cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(8 << 20)))\\n"
exec(compile(source, "/tmp/" + EVIL + ".py", "exec"))
code = step.__code__
step.__code__ = code.replace(**{name: EVIL for name in ("co_name", "co_qualname") if hasattr(code, name)})
step()
`,
  );
  const trace = place.path('t.gputrace');
  const ran = await place.run(['run', '--simulate-gpu', '-o', trace, '--', python, job, ATTACK]);
  assert.equal(ran.status, 0, ran.stderr);
  const file = await written(place, trace);
  const html = readFileSync(file, 'utf8');
  assert.ok(!html.includes('onerror'));
  assert.equal(html.match(/<\/script>/g)?.length, 3);
  const page = await opened(file);
  assert.deepEqual(page.info.session.command, [python, job, ATTACK]);
  const seen = seenIn(t, 'chromium', file);
  if (seen === null) return;
  assert.deepEqual([seen.errors, seen.wrong, seen.attacked], [[], [], false]);
  assert.match(seen.rows.join('\n'), /onerror/);
});

test('--redact leaves no name, path or argument in the page', async t => {
  const place = new Place(t);
  const json = await place.run(['report', SAMPLE, '--format', 'json']);
  const report = JSON.parse(json.stdout) as {
    sites: { frames: { file: string; function: string }[] }[];
    allocations: { name: string }[];
  };
  const data = gunzipSync(Buffer.from(dataOf(await written(place, SAMPLE, '--redact')), 'base64')).toString('latin1');
  const plain = gunzipSync(Buffer.from(dataOf(await written(place, SAMPLE)), 'base64')).toString('latin1');
  const frames = report.sites.flatMap(site => site.frames);
  const own = frames.filter(({ file }) => !/\/(site-packages|lib\/python3)/.test(file));
  const source = readFileSync(join(root, 'media/sample/finetune.py'), 'utf8');
  const assigned = [...source.matchAll(/^\s*(?:self\.)?(\w+)(?:, \w+)* [+-]?= /gm)].map(([, name = '']) => name);
  const originals = new Set([
    ...frames.map(({ file }) => file).filter(file => file.startsWith('/')),
    ...own.flatMap(one => one.function.split('.')).filter(name => !/^(forward|<module>)$/.test(name)),
    ...['finetune', 'python3", "finetune', 'host=vm', '/tmp/sample', '/opt/torch', 'GPU-968ff663'],
    ...assigned.filter(name => plain.includes(name) && !/^(layers|optimizer|step|head)$/.test(name)),
  ]);
  assert.ok(originals.size > 15 && originals.has('val_total') && originals.has('loss_of'), [...originals].join());
  for (const original of originals) {
    const word = new RegExp(`(?<!\\w)${original.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?!\\w)`);
    assert.doesNotMatch(data, word);
  }
  assert.match(data, /file1\.py/);
});

test('--redact and moments are for what has them', async t => {
  const place = new Place(t);
  for (const words of [
    ['--format', 'csv', '--redact'],
    ['--format', 'html', '--at', 'peak'],
  ])
    assert.equal((await place.run(['report', SAMPLE, ...words])).status, 2, words.join(' '));
});
