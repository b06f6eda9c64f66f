// Findings of which the agent told who holds the memory.
import assert from 'node:assert/strict';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { findingText, headLine } from '../../../extension/report/tables/tableFindings';
import { NO_OWNER } from '../../../extension/analysis/findings/kinds/holderAnswers';
import { holderText } from '../../../extension/analysis/words';
import { leakWords } from '../../../extension/analysis/findings/kinds/wording';
import type { Finding, LeakClass } from '../../../extension/protocol/verdicts';
import { addresses, blockFacts, detachFix, findingsOf, only, playing } from '../runs/findingRuns';
import { type RunFacts, RunTrace, SCRIPT } from '../runs/runTrace';
import { type Block, StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const KB = 1024;
const MB = 1024 * KB;

test('what the agent found at two holders is two findings, each with its holder', () => {
  const run = playing(30, (_, run) => [run.alloc(1, 2 * MB), run.alloc(2, MB), run.alloc(3, 64 * KB)]);
  assert.equal(findingsOf(run).length, 1, 'nobody knows better');
  const [one, two] = [run.blocks(1), run.blocks(2)];
  const text = JSON.stringify({
    request: 0,
    groups: [
      {
        path: 'Encoder.debug_outputs',
        kind: 'attribute',
        file: SCRIPT,
        line: 11,
        length: 30,
        addresses: addresses(one),
      },
      { path: 'seen', kind: 'global', file: SCRIPT, line: 22, length: 30, addresses: addresses(two) },
    ],
  });
  const [first, second, ...more] = findingsOf(run, { answers: [{ text, blocks: blockFacts([...one, ...two]) }] });
  assert.deepEqual([first?.holder?.path, first?.sites, more.length], ['Encoder.debug_outputs', [1, 3], 0]);
  assert.deepEqual([second?.holder?.path, second?.holder?.line, second?.sites], ['seen', 22, [2]]);
  assertSentence(first?.evidence.join('\n'));
});

test('what one line put into several places is one finding', () => {
  const run = playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, MB)]);
  const [one, two] = [run.blocks(1), run.blocks(2)];
  const frame = (name: string, blocks: Block[]) => {
    const path = `failures[...].__traceback__ > fail().${name}`;
    return { path, kind: 'traceback', file: SCRIPT, line: 20, addresses: addresses(blocks) };
  };
  const text = JSON.stringify({ groups: [frame('x', one), frame('scratch', two)] });
  const finding = only(findingsOf(run, { answers: [{ text, blocks: blockFacts([...one, ...two]) }] }));
  assert.deepEqual([finding.sites.length, finding.class, finding.holder?.line], [2, 'exception', 20]);
});

test('what one function puts into two lists of one object is one finding, and of two objects are two', () => {
  const run = playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, KB)]);
  const findingsFor = (owner: string): Finding[] => {
    const list = (site: number, path: string) => {
      const own = addresses(run.blocks(site));
      return { path, kind: 'attribute', file: SCRIPT, function: 'keep', line: 20 + site, addresses: own };
    };
    const text = JSON.stringify({ groups: [list(1, 'main().model.logits[...]'), list(2, `${owner}.targets[...]`)] });
    return findingsOf(run, { answers: [{ text, blocks: blockFacts([...run.blocks(1), ...run.blocks(2)]) }] });
  };
  assert.deepEqual(only(findingsFor('main().model')).sites.length, 2);
  assert.equal(findingsFor('main().other').length, 2);
  assert.equal(findingsFor('main()').length, 2, 'a function’s variables are no object');
});

test('a tensor and its pinned copy in one list are one finding, about the device', () => {
  const run = new StepRun();
  run.site(2, { layer: 'host' });
  playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, 4 * MB)], run);
  const blocks = [...run.blocks(1), ...run.blocks(2)];
  const held = { path: 'pairs[...]', kind: 'container', file: SCRIPT, line: 20, addresses: addresses(blocks) };
  const answers = [{ text: JSON.stringify({ groups: [held] }), blocks: blockFacts(blocks) }];
  assert.equal(findingsOf(run).length, 2, 'nobody knows better');
  const finding = only(findingsOf(run, { answers }));
  assert.deepEqual([finding.layer, finding.bytesPerStep, finding.sites.length], ['tensor', MB, 2]);
  assertSentence(finding.evidence.join('\n'));
});

test('what a backward pass has freed the graph of is plain tensors', () => {
  const run = new StepRun();
  for (const site of [1, 2]) run.site(site, { category: 'activation' });
  playing(30, (_, run) => [run.alloc(1, 2 * MB), run.alloc(2, MB)], run);
  const held = (site: number, path: string, kind: string) => {
    const place = { path, kind, file: SCRIPT, line: 20, graph: true };
    return { ...place, addresses: addresses(run.blocks(site)) };
  };
  const classOf = (second: object): string | null => {
    const text = JSON.stringify({ groups: [held(1, 'features[...]', 'container'), second] });
    const blocks = blockFacts([...run.blocks(1), ...run.blocks(2)]);
    return only(findingsOf(run, { answers: [{ text, blocks }] })).class;
  };
  assert.equal(classOf(held(2, 'features[...]', 'container')), 'outputs');
  assert.equal(classOf(held(2, 'features[...] (its graph)', 'autograd')), 'graph');
});

test('evidence begins with the step since which the rest is counted', () => {
  const run = playing(30, (step, run) => [run.alloc(1, KB), step > 12 && run.alloc(2, MB)]);
  const blocks = [...run.blocks(1), ...run.blocks(2)];
  const held = { path: 'kept[...]', kind: 'container', file: SCRIPT, line: 20, addresses: addresses(blocks) };
  const answers = [{ text: JSON.stringify({ groups: [held] }), blocks: blockFacts(blocks) }];
  const finding = only(findingsOf(run, { answers }));
  assert.deepEqual([finding.sites.length, finding.sinceStep], [2, 1]);
  assert.match(finding.evidence[0] ?? '', /step 1\b/);
});

test('pinned memory of PyTorch’s cache is a leak where tensors lie in it', () => {
  const run = new StepRun();
  run.site(1, { layer: 'host', device: -1, library: '/opt/torch/lib/libtorch_cuda.so' });
  playing(60, (_, run) => run.alloc(1, MB), run);
  const blocks = run.blocks(1);
  const answerOf = (when: string, holder: object): Pick<RunFacts, 'answers'> => ({
    answers: [
      {
        text: JSON.stringify({ when, holders: [{ ...holder, addresses: addresses(blocks) }] }),
        blocks: blockFacts(blocks),
      },
    ],
  });
  const none = { path: 'nobody', kind: 'none' };
  const list = { path: 'batches[...]', kind: 'container', file: SCRIPT, line: 20 };
  assert.equal(only(findingsOf(run)).verdict, 'rose', 'nobody was asked');
  assert.equal(only(findingsOf(run, answerOf('exit', none))).verdict, 'rose', 'the variables of functions are gone');
  assert.equal(only(findingsOf(run, answerOf('asked', list))).verdict, 'leak');
  const { findings, sites } = judgeTrace(new RunTrace(run, answerOf('asked', none)));
  assert.deepEqual([findings.length, sites.get(1)?.state], [0, 'cache']);
  const isFound = (bytes: number): number => {
    const run = new StepRun();
    for (const site of [1, 2])
      run.site(site, { layer: 'host', device: -1, library: '/opt/torch/lib/libtorch_cuda.so' });
    playing(60, (_, run) => [run.alloc(1, MB), run.alloc(2, bytes)], run);
    const holders = [{ ...none, addresses: addresses(run.blocks(1)) }];
    const answers = [{ text: JSON.stringify({ when: 'asked', holders }), blocks: blockFacts(run.blocks(1)) }];
    return findingsOf(run, { answers, lines: { 1: 7, 2: 8 } }).length;
  };
  assert.deepEqual([isFound(MB), isFound(2 * MB)], [0, 1], 'what was not asked and grows as slowly is the same');
  playing(1200, (_, run) => run.alloc(1, MB), run);
  assert.equal(only(findingsOf(run, answerOf('asked', none))).verdict, 'leak', 'no program runs ahead so far');
});

test('a line’s blocks that nobody was found to hold are of the cause that the line has', () => {
  const run = playing(60, (step, run) => [
    step % 2 === 0 && run.alloc(1, MB),
    step > 9 && step % 5 === 0 && run.alloc(2, MB),
  ]);
  const held = { path: 'log[...]', kind: 'container', file: SCRIPT, line: 20, addresses: addresses(run.blocks(1)) };
  const answers = [{ text: JSON.stringify({ groups: [held] }), blocks: blockFacts(run.blocks(1)) }];
  assert.equal(findingsOf(run, { answers, lines: { 1: 7, 2: 8 } }).length, 2);
  assert.equal(only(findingsOf(run, { answers, lines: { 1: 7, 2: 7 } })).sites.length, 2);
});

test('what one holder keeps is one finding, whatever its rhythm', () => {
  const run = playing(60, (step, run) => [run.alloc(1, MB), step > 20 && step % 3 === 0 && run.alloc(2, MB)]);
  const [one, two] = [run.blocks(1), run.blocks(2)];
  assert.equal(findingsOf(run).length, 2, 'nobody knows better');
  const held = { path: 'log[...]', kind: 'container', file: SCRIPT, line: 20, addresses: addresses([...one, ...two]) };
  const answers = [{ text: JSON.stringify({ groups: [held] }), blocks: blockFacts([...one, ...two]) }];
  assert.deepEqual(only(findingsOf(run, { answers })).sites, [1, 2]);
});

test('of gradients with their own graphs nobody in Python is the holder', () => {
  const run = playing(40, (_, run) => run.alloc(1, MB));
  const blocks = run.blocks(1);
  const none = { path: 'nobody', kind: 'none', addresses: addresses(blocks) };
  const answers = [{ text: JSON.stringify({ holders: [none] }), blocks: blockFacts(blocks) }];
  const found = (line: string): Finding => only(findingsOf(run, { answers }, { 1: line }));
  assert.equal(found('loss.backward()').holder, null);
  const cycle = found('loss.backward(create_graph=True)');
  assert.deepEqual([cycle.verdict, cycle.holder?.line], ['leak', 1]);
  assertSentence(cycle.holder?.path);
  assert.match(cycle.suggestion, /torch\.autograd\.grad/);
});

test('a cycle has its article where it stands in a sentence', () => {
  assert.equal(holderText({ ...NO_OWNER, kind: 'cycle', path: 'cycle of Node' }), 'a reference cycle of Node');
});

test('what lives to the end though Python has none of it has no Python owner', () => {
  const run = playing(40, (step, run) => [run.alloc(1, MB), step === 20 && run.alloc(2, MB)]);
  const end = { when: 'exit', ok: true, cut: false, groups: [], more: addresses(run.blocks(2)) };
  const found = (document: object, seen = run.blocks(2)) =>
    only(findingsOf(run, { answers: [{ text: JSON.stringify(document), blocks: blockFacts(seen) }] }));
  assertSentence(found(end).holder?.path);
  assert.match(found(end).suggestion, /ipc_collect/);
  assert.ok(!findingText(found(end)).some(line => /Held by/.test(line)), 'its suggestion is that nothing holds it');
  assert.equal(found(end, run.blocks(1)).holder, null, 'some of it is there');
  for (const document of [
    { ...end, cut: true },
    { ...end, when: 'step' },
    { ...end, more: undefined },
  ]) {
    assert.equal(found(document).holder, null);
  }
});

test('where PyTorch does not show what graphs hold, what nobody has has an unknown holder', () => {
  const run = playing(40, (_, run) => run.alloc(1, MB));
  const end = { text: JSON.stringify({ when: 'exit', ok: true, cut: false, groups: [], more: [] }), blocks: [] };
  const found = (code: number): Finding => only(findingsOf(run, { answers: [end], notes: [{ code, text: '' }] }));
  assert.equal(found(9).holder?.kind, 'none');
  const { holder, unnamed } = found(19);
  assert.equal(holder, null);
  assertSentence(unnamed);
});

test('a look that was cut short before it came to the blocks is told of', () => {
  const run = playing(40, (_, run) => run.alloc(1, MB));
  const document = { when: 'exit', ok: true, cut: true, tookMs: 512.4, groups: [] };
  const cutText = (answer: object) =>
    only(
      findingsOf(run, { answers: [{ text: JSON.stringify(answer), blocks: blockFacts(run.blocks(1)) }] }),
    ).evidence.filter(sentence => sentence.includes('cut short'));
  assertSentence(cutText(document)[0] ?? '');
  assert.equal(cutText({ ...document, cut: false }).length, 0);
  assert.equal(cutText({ ...document, when: undefined }).length, 0, 'somebody asked, and was told');
  const kept = { path: 'kept[...]', kind: 'global', addresses: addresses(run.blocks(1)) };
  assert.equal(cutText({ ...document, groups: [kept] }).length, 0, 'it came to them');
});

test('an answer from before everything went says more than the one at exit', () => {
  const run = playing(40, (_, run) => run.alloc(1, MB));
  const answer = (path: string, blocks: Block[]) => ({
    text: JSON.stringify({ groups: [{ path, kind: 'local', addresses: addresses(blocks) }] }),
    blocks: blockFacts(blocks),
  });
  const answers = [answer('train(): epoch_loss', run.blocks(1).slice(0, 32)), answer('x', run.blocks(1).slice(-1))];
  assert.equal(only(findingsOf(run, { answers })).holder?.path, 'train(): epoch_loss');
});

test('a container with a bound that is being filled is no leak', () => {
  const run = playing(40, (_, run) => run.alloc(1, MB));
  const held = { path: 'replay', kind: 'global', length: 40, bound: 200, addresses: addresses(run.blocks(1)) };
  const facts = (bound: number | null): RunFacts => ({
    answers: [{ text: JSON.stringify({ groups: [{ ...held, bound }] }), blocks: blockFacts(run.blocks(1)) }],
  });
  assert.equal(findingsOf(run, facts(null)).length, 1);
  assert.deepEqual(findingsOf(run, facts(200)), []);
  const verdict = judgeTrace(new RunTrace(run, facts(200))).sites.get(1);
  assert.equal(verdict?.state, 'plateau');
  assertSentence(verdict.because);
  held.length = 30;
  assert.equal(findingsOf(run, facts(30)).length, 1, 'more are kept than it takes');
});

test('the agent’s kinds of holders name the class', () => {
  const run = playing(30, (_, run) => run.alloc(1, MB));
  const classOf = (kind: string): string | null => {
    const text = JSON.stringify({ groups: [{ path: 'p', kind, addresses: addresses(run.blocks(1)) }] });
    return only(findingsOf(run, { answers: [{ text, blocks: blockFacts(run.blocks(1)) }] })).class;
  };
  assert.deepEqual(['cycle', 'exception', 'hook', 'autograd', 'list'].map(classOf), [
    'cycle',
    'exception',
    'hook',
    'graph',
    'outputs',
  ]);
});

test('where the line that keeps it is known, it is what the headline names', () => {
  const facts = {
    layer: 'tensor',
    bytesPerStep: MB,
    blocksPerStep: 1,
    bytes: 20 * MB,
    count: 20,
    library: null,
    period: 1,
    sinceStep: 3,
  } as const;
  const place = { site: 1, file: '/t/model.py', line: 13, function: 'forward', bytesPerStep: MB };
  const holder = { path: 'seen', kind: 'global', function: null, length: null, bound: null };
  const words = (kind: LeakClass, file: string | null, lines = 1): { headline: string; detail: string | null } =>
    leakWords({ ...facts, class: kind, place, lines, holder: { ...holder, file, line: file === null ? null : 35 } });
  const graph = words('graph', '/t/train.py');
  assertSentence(`${graph.headline}\n${graph.detail}`);
  assertSentence(words('outputs', '/t/train.py').headline);
  assertSentence(words('graph', null).headline);
  assertSentence(words('graph', null).detail);
  const rare = { ...facts, class: 'outputs', place, lines: 1, holder: null, period: 10, blocksPerStep: 0.39 } as const;
  const each = leakWords({ ...rare, bytesPerStep: 0.41 * MB });
  assert.match(each.detail ?? '', /^4 MiB /, 'as big as the blocks are, not as steep as the slope');
});

test('what may still have a bound when the program ends grew until the end, and is no leak', () => {
  const run = playing(40, (_, run) => run.alloc(1, MB));
  const held = {
    path: 'cache',
    kind: 'global',
    limit: 'shrinks',
    limitAt: ['/t.py', 'joins', 24],
    addresses: addresses(run.blocks(1)),
  };
  const answers = [{ text: JSON.stringify({ groups: [held] }), blocks: blockFacts(run.blocks(1)) }];
  const verdictOf = (ended: boolean) => {
    const { findings, sites } = judgeTrace(new RunTrace(run, { answers, ended }));
    assertSentence(headLine(only(findings)));
    return [only(findings).verdict, sites.get(1)?.state];
  };
  assert.deepEqual(verdictOf(false), ['rising', 'rising']);
  assert.deepEqual(verdictOf(true), ['rose', 'rose']);
});

test('a fix of one part of what a line keeps is none: the others stay', () => {
  const run = playing(30, (_, run) => [run.alloc(1, MB), run.alloc(2, MB)]);
  const blocks = [...run.blocks(1), ...run.blocks(2)];
  const LOSS = 'x.append(loss.detach())';
  const fixOf = (second: string, statement = LOSS) => {
    const part = (path: string, site: number, own = LOSS) => {
      const container = { container: 'main().outputs', kind: 'container', file: SCRIPT, line: 19 };
      return { path, ...container, fix: detachFix(19, own), addresses: addresses(run.blocks(site)) };
    };
    const groups = [part("main().outputs[...]['loss']", 1), part(second, 2, statement)];
    const answers = [{ text: JSON.stringify({ groups }), blocks: blockFacts(blocks) }];
    return only(findingsOf(run, { answers })).holder?.fix;
  };
  assert.equal(fixOf("main().outputs[...]['pred']", 'x.append(pred.detach())'), undefined);
  assert.equal(fixOf("main().outputs['b'][...]")?.adds, '.detach()', 'one statement fills several lists');
  assert.equal(fixOf("main().outputs[...]['loss'] (its graph)")?.adds, '.detach()');
});
