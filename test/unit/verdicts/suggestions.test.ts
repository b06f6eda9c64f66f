import assert from 'node:assert/strict';
import { suggest } from '../../../extension/analysis/findings/kinds/suggestions';
import type { FindingHolder, LeakClass } from '../../../extension/protocol/verdicts';
import { detachFix } from '../runs/findingRuns';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const at = (path: string, more: Partial<FindingHolder> = {}): FindingHolder => {
  return { path, kind: 'container', file: null, line: null, function: null, length: null, bound: null, ...more };
};

test('a fix that a parse of the statement gave is told as the line to write', () => {
  const fix = detachFix(9, 'total += loss.detach()');
  assertSentence(suggest('graph', at('main().total', { fix }), { lines: ['total += loss'] }));
});

test('without one no code of the user’s is made up', () => {
  const lines = [
    'running_loss = running_loss + self.criterion(self.model(x), y)',
    'total += loss * x.size(0)',
    'total += F.mse_loss(out, y)',
    'all_outputs.append(out)',
    'self.loggerDict[name] = rv',
  ];
  for (const line of lines)
    for (const kind of ['graph', 'outputs', 'backward'] as const)
      for (const holder of [null, at('kept[...]')])
        for (const name of line.match(/[\w.]{4,}/g) ?? [])
          assert.ok(
            !suggest(kind, holder, { lines: [line] }).includes(name),
            `${name} in ${suggest(kind, holder, { lines: [line] })}`,
          );
});

test('what grows is told to keep less, or to have a bound', () => {
  assertSentence(suggest('outputs', at('all_outputs[...]')));
  assertSentence(suggest('graph', at('embed(cache)')));
  assertSentence(suggest('outputs', at('embed(cache)', { one: true, container: 'embed(cache)' })));
  assertSentence(suggest('outputs', at('embed(cache)', { bound: 512 })));
  assertSentence(suggest('outputs', at('embed(cache)[...]', { container: 'embed(cache)' })));
});

test('an array of another library is brought to the CPU in its own words, and gets no advice for PyTorch', () => {
  const classes: LeakClass[] = ['outputs', 'size', 'hook', 'graph', 'gradients', 'exception'];
  const lines = ['kept = jnp.concatenate([kept, x])', 'all_outputs.append(out)'];
  const text = (kind: LeakClass): string => suggest(kind, at('kept[...]', { toHost: 'jax.device_get(…)' }), { lines });
  assertSentence(text('outputs'));
  for (const kind of classes) assert.doesNotMatch(text(kind), /torch|detach|\.cpu\(/, kind);
});

test('a hook that is registered in each step is not to be, and one that stores what it sees is to store less', () => {
  const hook = 'model[2]._backward_hooks';
  const scale = at(`${hook}[...] > <watch.<locals>.hook>.scale`, { kind: 'hook', container: hook });
  assertSentence(suggest('hook', scale));
  const seen = `${hook}[...] > <watch.<locals>.hook>.seen`;
  assertSentence(suggest('hook', at(`${seen}[...]`, { kind: 'hook', container: seen })));
});

test('what cannot have a graph is not to be detached, and what is no single number has no .item()', () => {
  const classes: LeakClass[] = ['graph', 'outputs', 'size', 'gradients', 'backward', 'hook'];
  const advice = (kind: LeakClass, more: Partial<FindingHolder>): string =>
    suggest(kind, at('embeddings[...]', more), { lines: ['kept = torch.cat([kept, x])'] });
  for (const kind of classes) {
    assert.doesNotMatch(advice(kind, { graph: false, one: false }), /detach|item\(\)/, kind);
    assert.doesNotMatch(advice(kind, { graph: true, one: false }), /item\(\)|(?<!detach\(\))\.cpu/, kind);
  }
  assertSentence(advice('outputs', { graph: false, one: false }));
  assertSentence(advice('graph', { graph: true, one: true }));
  assertSentence(suggest('outputs', null, { torch: false }), 'no tensors of PyTorch');
  assert.match(
    advice('outputs', {}),
    /`\.detach\(\)\.cpu\(\)`/,
    'of an older trace nothing is known: it is right for both',
  );
});

test('what grows every so many steps is told so', () => {
  const often = { period: 20.2 };
  assertSentence(suggest('outputs', at('kept[...]'), often));
  assertSentence(suggest('size', null, often));
  assertSentence(suggest('pinned', null, often));
});

test('what a fix moves to the CPU is not said to have a graph that is freed: its backward pass may have done that', () => {
  const statement = 'losses.append(loss.detach().cpu())';
  const fix = { ...detachFix(9, statement), after: 'loss.detach().cpu()', adds: '.detach().cpu()' };
  assertSentence(suggest('outputs', at('losses[...]', { fix })));
});

test('a metric of torchmetrics is to be reset, or to collect on the CPU', () => {
  const holder = at('auroc.preds[...]', { metric: true, graph: false, container: 'auroc.preds' });
  assertSentence(suggest('outputs', holder));
});

test('of a state that is carried over in a tuple, the graph grows, not the tuple', () => {
  const state = at('main().net.state[...]', {
    kind: 'autograd',
    graph: true,
    container: 'main().net.state',
    length: null,
  });
  assertSentence(suggest('graph', state));
  assertSentence(suggest('graph', { ...state, length: 120 }));
  const variable = suggest('graph', at('train().epoch_loss', { kind: 'autograd', graph: true, length: null }));
  assert.doesNotMatch(variable, /tuple/);
});

test('of a way through several containers the one that grows is told', () => {
  const holder = { ...at('sessions[...].past[...]'), container: 'sessions' };
  assertSentence(suggest('outputs', holder));
});

test('what a kept exception keeps: the exception is what not to keep, unless something in its functions grows', () => {
  const kept = '__main__.failures[...].__traceback__ > ';
  for (const kind of ['graph', 'outputs', 'exception'] as const)
    assertSentence(suggest(kind, at(`${kept}train_step().logits (its graph)`)), kind);
  assertSentence(suggest('exception', at(`${kept}train_step().parts[...]`)));
  assertSentence(suggest('outputs', at(`${kept}main().tap.seen[...]`)));
  assertSentence(suggest('exception', at('sys.last_value')));
});

test('concatenation, retained graphs, create_graph', () => {
  assertSentence(suggest('size', null, { lines: ['preds = torch.cat([preds, logits])'] }));
  assertSentence(suggest('size', null));
  assertSentence(suggest('graph', at('kept'), { lines: ['loss.backward(retain_graph=True)'] }));
  assertSentence(
    suggest('outputs', null, { lines: ['best[step] = {k: v.clone() for k, v in net.state_dict().items()}'] }),
  );
  assert.match(suggest('backward', null, { lines: ['g = grad(y, x, create_graph=True)'] }), /create_graph/);
});

test('every class has advice without any source text, with and without a holder', () => {
  const classes: LeakClass[] = [
    'graph',
    'outputs',
    'size',
    'gradients',
    'backward',
    'cycle',
    'exception',
    'hook',
    'pinned',
    'driver',
  ];
  for (const kind of classes) {
    for (const holder of [null, at('Encoder.debug_outputs')]) {
      const text = suggest(kind, holder);
      assert.match(text, /^[`A-Z].*\.$/, kind);
      assert.doesNotMatch(text, /\{|undefined|null/);
    }
  }
  assertSentence(suggest('outputs', at('Encoder.debug_outputs')));
});

test('a library that keeps driver memory is named, with what frees it', () => {
  const of = (library: string | null): string => suggest('driver', null, { library });
  assert.match(of('NCCL (libnccl.so.2)'), /`torch\.distributed\.destroy_process_group\(group\)`/);
  assert.match(of('cuFFT (libcufft.so.12)'), /cufft_plan_cache\.clear\(\)/);
  assertSentence(of('cuBLAS (libcublasLt.so.13)'));
  for (const other of ['libother.so', null]) assertSentence(of(other));
});
