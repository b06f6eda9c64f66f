// What an agent can do by the tools' answers alone: name line, holder and fix of each planted leak, and nothing where there is none.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startAgent, type Agent, type Fields } from './agent';
import { Place, root } from './launcher';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Expected {
  verdict: 'leak' | 'none' | 'oom';
  site?: number | number[];
  holder?: number | number[];
  holderPath?: string;
}
const stored = join(root, 'test/golden/leaks');
const expectations = JSON.parse(readFileSync(join(stored, 'expect.json'), 'utf8')) as Record<string, Expected>;

interface Diagnosis {
  verdict: string;
  allocates: number | null;
  keeps: number | null;
  holder: string;
  fix: string;
}

/** All that a program makes of the answers of the tools on one trace; null: it leaks nothing. */
async function diagnose(agent: Agent, trace: string): Promise<Diagnosis | null> {
  for (let cursor: unknown = undefined; cursor !== null;) {
    const { content } = await agent.call('get_findings', { trace, ...(cursor ? { cursor } : {}) });
    for (const finding of content.findings as Fields[]) {
      const [place, holder] = [finding.place as Fields | null, finding.holder as Fields | null];
      const found = { allocates: place?.line as number, keeps: (holder?.line ?? null) as number | null };
      const named = {
        verdict: String(finding.verdict),
        ...found,
        holder: String(holder?.says),
        fix: String(finding.suggestion),
      };
      if (finding.verdict === 'leak') return named;
      if (finding.verdict !== 'oom') continue;
      const { content: why } = await agent.call('explain_out_of_memory', { trace });
      if (why.cause === 'leak') return { ...named, fix: String((why.advice as Fields[])[0]?.text) };
    }
    cursor = content.next;
  }
  return null;
}

test('line, holder and fix of every planted leak; nothing of what only looks like one', async t => {
  const place = new Place(t);
  for (const name of Object.keys(expectations).map(file => basename(file, '.py')))
    writeFileSync(place.path(`${name}.gputrace`), gunzipSync(readFileSync(join(stored, `${name}.gputrace.gz`))));
  const agent = await startAgent(t, place);
  const traces: string[] = [];
  for (let cursor: unknown = '0'; cursor !== null;) {
    const { content } = await agent.call('list_traces', { cursor, limit: 20 });
    traces.push(...(content.traces as Fields[]).map(each => String(each.trace)));
    cursor = content.next;
  }
  assert.equal(traces.length, Object.keys(expectations).length);
  for (const trace of traces.sort()) {
    const name = basename(trace, '.gputrace');
    const expected = expectations[`${name}.py`];
    const diagnosis = await diagnose(agent, trace);
    const message = `${name}: ${JSON.stringify(diagnosis)}`;
    assert.equal(diagnosis?.verdict ?? 'none', expected?.verdict, message);
    if (diagnosis === null) continue;
    const among = (line: number | null, lines: number | number[] | undefined): boolean =>
      lines === undefined || [lines].flat().includes(line ?? 0);
    assert.ok(among(diagnosis.allocates, expected?.site) && among(diagnosis.keeps, expected?.holder), message);
    assert.ok(
      (expected?.holderPath ?? '').split('|').some(path => diagnosis.holder.includes(path)),
      message,
    );
    assertSentence(`${name}: ${diagnosis.fix}`);
  }
});
