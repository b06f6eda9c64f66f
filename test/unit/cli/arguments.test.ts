import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseArguments, type Arguments } from '../../../extension/cli/arguments/arguments';
import { helpLines } from '../../../extension/cli/arguments/help';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const parse = (line: string): ReturnType<typeof parseArguments> => parseArguments(line === '' ? [] : line.split(' '));

test('a leak fails the run: one that matters, or any', () => {
  const failing = (option: string): unknown => {
    const parsed = parse(`run ${option} -- python x.py`);
    return 'failOnLeak' in parsed ? parsed.failOnLeak : parsed;
  };
  assert.deepEqual(['--fail-on-leak', '--fail-on-leak=all', '--blocks'].map(failing), ['leaks', 'all', null]);
});

test('run takes its options up to -- and leaves the rest to the program', () => {
  const expected: Arguments = {
    verb: 'run',
    backend: 'inject',
    simulateGpu: true,
    log: 'train.log',
    holders: 'atSteps',
    output: 'x.gputrace',
    format: 'json',
    report: 'r.json',
    intervalMs: 500,
    failOnLeak: 'leaks',
    blocks: true,
    nativeStacks: false,
    detailBytes: 1.5 * 2 ** 30,
    budgetBytes: 3_000_000_000,
    ranks: null,
    start: { step: 1000, reservedBytes: 1.5 * 2 ** 30 + 1 },
    maxSteps: 100,
    lean: true,
    otlp: '',
    prometheus: 'gpu.prom',
    command: ['python', 'train.py', '--', '-o', 'y'],
  };
  const options =
    '--simulate-gpu --log train.log --holders -o x.gputrace --format=json --report r.json --interval 500ms --fail-on-leak --blocks --backend auto --start-at step:1000 --start-when reserved>1.5GB --start paused --lean --max-steps 100 --detail 1.5GB --budget=3000000000 --otlp --prometheus gpu.prom';
  assert.deepEqual(parse(`run ${options} -- python train.py -- -o y`), expected);
  assert.deepEqual(parse(`run ${options} python train.py -- -o y`), expected);
});

test('attach takes one process and the options of run', () => {
  const expected: Arguments = {
    verb: 'attach',
    pid: 4711,
    output: 'x.gputrace',
    format: 'json',
    report: 'r.json',
    intervalMs: 500,
    failOnLeak: 'leaks',
    blocks: true,
    nativeStacks: true,
    detailBytes: 1024,
    budgetBytes: null,
    ranks: null,
    otlp: 'http://collector:4318',
    prometheus: null,
  };
  const options =
    '-o x.gputrace --format=json --report r.json --interval 500ms --fail-on-leak --blocks --backend uprobe --detail 1KiB --otlp http://collector:4318';
  assert.deepEqual(parse(`attach 4711 ${options} --native-stacks`), expected);
  assert.deepEqual(parse(`attach --native-stacks ${options} 4711`), expected);
  const bare = parse('attach 1');
  assert.ok('verb' in bare && bare.verb === 'attach');
  assert.deepEqual([bare.nativeStacks, bare.format, bare.output], [false, 'table', null]);
});

test('metrics go to an address or a file that is one, or as variables say', () => {
  const metricsOf = (words: string): unknown => {
    const parsed = parse(`run ${words} python x.py`.replace('  ', ' '));
    if ('usage' in parsed) return parsed.usage;
    return 'otlp' in parsed && [parsed.otlp, parsed.prometheus, 'command' in parsed && parsed.command.length];
  };
  assert.deepEqual(metricsOf(''), [null, null, 2]);
  assert.deepEqual(metricsOf('--otlp'), ['', null, 2]);
  assert.deepEqual(metricsOf('--otlp --'), ['', null, 2]);
  assert.deepEqual(metricsOf('--otlp https://c:4318/x --prometheus a/b.prom'), ['https://c:4318/x', 'a/b.prom', 2]);
  assert.deepEqual(metricsOf('--otlp=http://c'), ['http://c', null, 2]);
  for (const text of ['c:4318', 'localhost:4318/v1', 'grpc://c:4317'])
    assert.deepEqual(metricsOf(`--otlp ${text}`), [text, null, 2]);
  assertSentence(String(metricsOf('--otlp=nonsense')));
  assertSentence(String(metricsOf('--prometheus gpu.txt')));
});

test('the uprobe tracer is chosen by name, with its own option', () => {
  const parsed = parse('run --native-stacks --backend uprobe -- x');
  assert.ok('verb' in parsed && parsed.verb === 'run');
  assert.deepEqual([parsed.backend, parsed.nativeStacks], ['uprobe', true]);
});

test('times', () => {
  for (const [text, milliseconds] of Object.entries({ '2s': 2000, '2': 2000, '0.5': 500, '1m': 60000, '100ms': 100 })) {
    const parsed = parse(`run --interval ${text} -- x`);
    assert.ok('verb' in parsed && parsed.verb === 'run');
    assert.equal(parsed.intervalMs, milliseconds);
  }
});

test('report and doctor', () => {
  const plain = {
    verb: 'report',
    file: 'a.gputrace',
    output: null,
    at: null,
    from: null,
    blocks: false,
    compare: [],
    failAbove: null,
    oom: false,
    run: null,
    redact: false,
  };
  const report = { ...plain, format: 'json', groupBy: 'thread' };
  assert.deepEqual(parse('report a.gputrace --format json --group-by thread'), report);
  assert.deepEqual(parse('report --format json --group-by=thread a.gputrace'), report);
  const exported = { ...plain, format: 'parquet', output: 'x.parquet', groupBy: null };
  assert.deepEqual(parse('report a.gputrace --format parquet -o x.parquet'), exported);
  assert.deepEqual(parse('report --at=90% a.gputrace -o x.parquet --format=parquet'), {
    ...exported,
    at: { percent: 90 },
  });
  assert.deepEqual(parse('report a.gputrace --between 500ms step:120'), {
    ...plain,
    format: 'table',
    groupBy: null,
    from: { seconds: 0.5 },
    at: { step: 120 },
  });
  assert.deepEqual(parse('report a.gputrace --at mark:warm --compare b.gputrace@step:3'), {
    ...plain,
    format: 'table',
    groupBy: null,
    at: { mark: 'warm' },
    compare: [{ file: 'b.gputrace', at: { step: 3 } }],
  });
  const listed = { ...plain, format: 'table', groupBy: null, blocks: true };
  assert.deepEqual(parse('report a.gputrace --blocks'), listed);
  assert.deepEqual(parse('mark 4711 warm'), { verb: 'mark', target: '4711', name: 'warm' });
  assert.deepEqual(parse('doctor --format json'), { verb: 'doctor', format: 'json' });
});

test('help and version', () => {
  assert.deepEqual(parse('--help'), { verb: 'help', about: null });
  assert.deepEqual(parse('help run'), { verb: 'help', about: 'run' });
  for (const verb of ['run', 'report', 'doctor', 'attach', 'mark', 'mcp']) {
    assert.deepEqual(parse(`${verb} --help`), { verb: 'help', about: verb });
  }
  for (const word of ['--version', '-v']) assert.deepEqual(parse(word), { verb: 'version' });
  const run = parse('run -- python --help');
  assert.ok('verb' in run && run.verb === 'run');
});

test('what is wrong is said in one sentence', () => {
  const lines = [
    '',
    'nonsense',
    'run',
    'run --',
    'run --nope -- x',
    'run --format xml -- x',
    'run --format -- x',
    'run --interval soon -- x',
    'run --interval 1ms -- x',
    'run --simulate-gpu=yes -- x',
    'run --backend gdb -- x',
    'run --native-stacks -- x',
    'run --no-stacks -- x',
    'run --start soon -- x',
    'run --max-steps 0 -- x',
    'run --budget 10 -- x',
    'finetune.gputrace',
    '4711',
    'help reprot',
    'help nonsense',
    'completion',
    'completion tcsh',
    'run --start-at 12s -- x',
    'run --start-at step:0 -- x',
    'run --start-when 70GB -- x',
    'run --start-when reserved>1ZB -- x',
    'run --start-when reserved>99999999TB -- x',
    'run --start paused --backend uprobe -- x',
    'run --lean --backend uprobe -- x',
    'record 12',
    'record 12 maybe',
    'record 12 on off',
    'attach',
    'attach 12 13',
    'attach python',
    'attach 0',
    'attach 12x',
    'attach -12',
    'attach 12 --simulate-gpu',
    'attach 12 --backend inject',
    'attach 12 --nope',
    'attach 12 --ring-bytes 65536',
    'run --fail-on-leak=leaks -- x',
    'report',
    'report a --blocks --format json',
    'report a --blocks --compare b',
    'report a b',
    'report ',
    'report a --format xml',
    'report a --at soon',
    'report a --at 101%',
    'report a --at step:0',
    'report a --at',
    'report a --between 1s',
    'report a --at 1s --between 1s 2s',
    'report a --format csv --group-by thread',
    'doctor x',
  ];
  for (const line of lines) {
    const parsed = parse(line);
    assert.ok('usage' in parsed, line);
    assertSentence(parsed.usage, line);
    assert.doesNotMatch(parsed.usage, /\n/);
  }
});

test('any words give a result, and words behind -- arrive unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), words => {
      parseArguments(words);
      const parsed = parseArguments(['run', '--', 'x', ...words]);
      assert.ok('verb' in parsed && parsed.verb === 'run');
      assert.deepEqual(parsed.command, ['x', ...words]);
    }),
  );
});

test('--holders is for the tracer inside the program', () => {
  const chosen = (...words: string[]): [string | null, string[]] => {
    const parsed = parseArguments(['run', ...words]);
    assert.ok('verb' in parsed && parsed.verb === 'run', JSON.stringify(parsed));
    return [parsed.holders, parsed.command];
  };
  assert.deepEqual(chosen('x'), [null, ['x']]);
  assert.deepEqual(chosen('--holders', '--', 'never'), ['atSteps', ['never']]);
  assert.deepEqual(chosen('--holders', 'train.py'), ['atSteps', ['train.py']]);
  assert.deepEqual(chosen('--holders', 'never', 'train.py'), ['never', ['train.py']]);
  assert.deepEqual(chosen('--holders=onFirstLeak', 'never'), ['onFirstLeak', ['never']]);
  assert.deepEqual(chosen('--holders=never', '--backend', 'uprobe', 'x'), ['never', ['x']]);
  const unknown = parseArguments(['run', '--holders=always', 'x']);
  assert.ok('usage' in unknown);
  assertSentence(unknown.usage);
  const wrong = parseArguments(['run', '--holders', '--backend', 'uprobe', '--', 'python', 'train.py']);
  assert.ok('usage' in wrong);
  assertSentence(wrong.usage);
});

test('holders: whom, about what', () => {
  assert.deepEqual(parseArguments(['holders', '4711', '--line', 'a b.py:41', '--format=json']), {
    verb: 'holders',
    where: '4711',
    format: 'json',
    line: { file: 'a b.py', line: 41 },
    address: null,
  });
  const address = parseArguments(['holders', '/run/trace-1', '--address', '0x7F00']);
  assert.ok('verb' in address && address.verb === 'holders' && address.address === 0x7f00n);
  const usage = (...words: string[]): string => {
    const parsed = parseArguments(words);
    return 'usage' in parsed ? parsed.usage : JSON.stringify(parsed);
  };
  assertSentence(usage('holders'));
  assertSentence(usage('holders', '1', '2'));
  assertSentence(usage('holders', '1', '--line', 'train.py'));
  assertSentence(usage('holders', '1', '--address', '7f'));
  assertSentence(usage('holders', '1', '--line', 'a:1', '--address', '0x1'));
  assertSentence(usage('holders', '1', '--do', 'collect'));
  assert.deepEqual(parseArguments(['holders', '1', '--help']), { verb: 'help', about: 'holders' });
});

test('report --help tells what each word of the table means', () => {
  const lines = helpLines('report', Infinity, true);
  for (const word of ['leak', 'plateau', 'sawtooth', 'persistent', 'temporary', 'not judged'])
    assert.ok(
      lines.some(line => new RegExp(`^ {2}${word} {2,}\\S.*\\.$`).test(line)),
      word,
    );
});

test('a word that was probably another one is told so, and what is far from all is not', () => {
  const usage = (...words: string[]): string => {
    const parsed = parseArguments(words);
    return 'usage' in parsed ? parsed.usage : '';
  };
  assertSentence(usage('atach', '12'));
  assertSentence(usage('reprot'));
  assertSentence(usage('Doctor'));
  assertSentence(usage('compare', 'a.gputrace', 'b.gputrace'));
  assertSentence(usage('--hepl'));
  assertSentence(usage('train.py'));
  assertSentence(usage('run', '--inteval=2s', '--', 'x'));
  assertSentence(usage('run', '--fail-on-leaks', 'x'));
  assertSentence(usage('report', 'x.gputrace', '--stacks'));
});

test('the help of what records has its options in groups, and names none that is not there', () => {
  for (const verb of ['run', 'attach'] as const) {
    const groups = new Map<string, string[]>();
    let heading = '';
    for (const line of helpLines(verb, Infinity, true)) {
      heading = /^(\w+):$/.exec(line)?.[1] ?? (line === '' ? '' : heading);
      const [, name] = /^ {2}(-[\w-]+)/.exec(line) ?? [];
      if (name !== undefined) groups.set(heading, [...(groups.get(heading) ?? []), name]);
    }
    assert.deepEqual([...groups.keys()], ['Everyday', 'Recording', 'Jobs', 'Expert'], verb);
    assert.ok((groups.get('Everyday') ?? []).length <= 12);
    const unknown = parseArguments([verb, '--nope']);
    assert.ok('usage' in unknown);
    const [refused] = unknown.usage.split('--nope');
    for (const name of [...groups.values()].flat()) {
      const parsed = parseArguments([verb, name]);
      assert.ok('usage' in parsed && !parsed.usage.startsWith(`${refused}${name}`), `${verb} ${name}`);
    }
  }
});

test('the simulated GPU is in the help of a checkout alone', () => {
  const [checkout, installed] = [helpLines('run', Infinity, true), helpLines('run', Infinity, false)];
  assert.equal(checkout.filter(line => /simulate/.test(line)).length, 1);
  assert.deepEqual(
    installed,
    checkout.filter(line => !/simulate/.test(line)),
  );
});

test('help fits the terminal, and loses no word', () => {
  for (const verb of [null, 'run', 'attach', 'report', 'holders'] as const) {
    const words = (lines: readonly string[]): string[] => lines.join(' ').split(/\s+/);
    const nparquet = helpLines(verb, 80, true);
    assert.deepEqual(words(nparquet), words(helpLines(verb, Infinity, true)));
    assert.deepEqual(
      nparquet.filter(line => line.length > 80),
      [],
    );
    const valuesThenText = nparquet.filter(
      line => /^ {2}-\S+ (\S+\|)+\S+ {2}[a-z]/.test(line) && line.indexOf('  ', 3) > 25,
    );
    assert.deepEqual(valuesThenText, [], 'long values have a line of their own');
  }
});
