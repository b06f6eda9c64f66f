import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadNative } from '../../extension/native/addon';

const loaded = loadNative(resolve(__dirname, '../../../dist'));
const maskSecrets = (words: readonly string[]): string[] => {
  if ('error' in loaded) throw new Error(loaded.error);
  return loaded.addon.maskSecrets(words);
};

const secret = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/);
const FORMS: ((value: string) => string[])[] = [
  value => ['--token', value],
  value => [`--token=${value}`],
  value => ['--hub-token', value],
  value => ['--api-key', value],
  value => ['--api_key', value],
  value => [`--wandb.api_key=${value}`],
  value => ['--password', value],
  value => ['-password', value],
  value => [`HF_TOKEN=${value}`],
  value => [`env.AWS_SECRET_ACCESS_KEY=${value}`],
  value => [`hub.token=${value}`],
  value => [`{"api_key": "${value}"}`],
  value => ['-c', `import x; x.login(token="${value}")`],
  value => ['-c', `export OPENAI_API_KEY=${value}; python train.py`],
  value => [`https://user:${value}@example.com/data`],
  value => [`postgresql://me:${value}@db:5432/runs`],
  value => [`https://example.com/data?token=${value}`],
  value => [`s3://b/x?X-Amz-Signature=${value}&a=1`],
  value => ['--header', `Authorization: Bearer ${value}`],
  value => [`hf_${value}`],
  value => [`--x=sk-${value}`],
  value => [`ghp_${value}`],
  value => [`github_pat_${value}`],
  value => [`xoxb-${value}`],
  value => [`eyJ${value}.eyJ${value}.${value}`],
];

test('no secret of a command line is left, in whatever form it is given', () => {
  fc.assert(
    fc.property(
      secret,
      fc.constantFrom(...FORMS),
      fc.array(fc.constantFrom('--lr', '0.1', 'x.yaml')),
      (value, form, others) => {
        const masked = maskSecrets(['python', 'train.py', ...others, ...form(value), ...others]).join(' ');
        assert.ok(!masked.includes(value), masked);
        assert.ok(masked.includes('***'));
      },
    ),
    { numRuns: 2000 },
  );
});

test('whatever the words are: as many come back, and none is longer than it was', () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('--token', '=', ':', '"', "'", '://', '@', '?', '&', 'Bearer ', 'hf_', 'key'),
  );
  const word = fc.array(part, { maxLength: 12 }).map(parts => parts.join('').replaceAll('\0', ''));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), words => {
      const masked = maskSecrets(words);
      assert.equal(masked.length, words.length);
      masked.forEach((text, i) => assert.ok(Buffer.byteLength(text) <= Buffer.byteLength(Buffer.from(words[i] ?? ''))));
    }),
    { numRuns: 5000 },
  );
});

test('what is no secret stays', () => {
  const plain = ['python', '-m', 'torch.distributed.run', 'train.py', '--tokenizer', 'gpt2', '--max-tokens', '512'];
  plain.push(
    '--keys-per-step',
    '3',
    '--key-dim',
    '64',
    'model.hidden=768',
    '--monkey',
    'x',
    'https://host:8080/a',
    '--passes',
    '3',
  );
  plain.push('--output=/data/tokens', 'a=b', '--num_tokens=5', '--author', 'me');
  assert.deepEqual(maskSecrets(plain), plain);
  assert.deepEqual(maskSecrets(['--token', '--lr', '0.1']), ['--token', '--lr', '0.1']);
});
