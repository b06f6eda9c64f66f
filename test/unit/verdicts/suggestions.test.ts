import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggest } from '../../../extension/analysis/findings/suggestions';
import type { LeakClass } from '../../../extension/protocol/verdicts';

test('a sum of losses is told to add numbers', () => {
  assert.match(suggest('graph', ['        loss_sum += loss'], null), /`loss_sum \+= loss\.item\(\)`/);
  assert.match(
    suggest('graph', ['epoch_loss = epoch_loss + loss   # all'], null),
    /`epoch_loss = epoch_loss \+ loss\.item\(\)`/,
  );
  assert.match(suggest('outputs', ['self.total += out * 2'], 'Trainer.total'), /`self\.total \+= out\.item\(\)`/);
});

test('a list is told to keep copies that are detached, or to have a bound', () => {
  for (const line of ['all_outputs.append(out)', 'self.cache.add(x)', 'queue.put(batch)']) {
    assert.match(suggest('outputs', [line], null), /store `\.detach\(\)\.cpu\(\)` \(or `\.item\(\)`\), or bound it/);
  }
  assert.match(suggest('outputs', ['cache[step] = torch.empty(4)'], null), /^`cache` gets a new entry with each step/);
});

test('the holder’s line comes before the line that allocates', () => {
  const lines = ['self.debug_outputs.append(y)', 'total += y'];
  assert.match(suggest('gradients', lines, null), /^Gradients of past steps/);
  assert.match(suggest('outputs', lines, null), /^`self\.debug_outputs` gets more/);
  assert.match(suggest('outputs', ['y = net(x)', 'keep.append(y)'], null), /^`keep` gets more/);
});

test('concatenation, retained graphs, create_graph', () => {
  assert.match(suggest('size', ['preds = torch.cat([preds, logits])'], null), /join them once/);
  assert.match(suggest('size', [], null), /made bigger step by step/);
  assert.match(suggest('graph', ['loss.backward(retain_graph=True)'], 'kept'), /drop that tensor \(kept\)/);
  assert.match(
    suggest('outputs', ['best[step] = {k: v.clone() for k, v in net.state_dict().items()}'], null),
    /^Copies of the weights/,
  );
  assert.match(suggest('backward', ['g = grad(y, x, create_graph=True)'], null), /create_graph/);
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
    for (const holder of [null, 'Encoder.debug_outputs']) {
      const text = suggest(kind, [], holder);
      assert.match(text, /^[A-Z].*\.$/, kind);
      assert.doesNotMatch(text, /\{|undefined|null/);
    }
  }
  assert.match(suggest('outputs', [], 'Encoder.debug_outputs'), /^Encoder\.debug_outputs keeps it/);
});
