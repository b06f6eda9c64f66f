import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exceptionIn as exceptionOf, refusalIn } from '../../../extension/capture/launch/pythonException';

const exceptionIn = (output: string): string | null => exceptionOf(output)?.sentence ?? null;

const HEADER = 'Traceback (most recent call last):\r\n';
const FRAME = '  File "/home/me/train.py", line 1, in <module>\r\n    import torch\r\n';

test('the last line of the last traceback is found, without the colours of Python 3.13', () => {
  const plain = `step 1\r\n${HEADER}${FRAME}ModuleNotFoundError: No module named 'torch'\r\n`;
  assert.equal(exceptionIn(plain), "ModuleNotFoundError: No module named 'torch' (train.py:1)");
  assert.deepEqual(exceptionOf(plain)?.place, { file: '/home/me/train.py', line: 1 });
  const red = plain
    .replace('ModuleNotFoundError', '\x1b[1;35mModuleNotFoundError\x1b[0m')
    .replace('\r\n', '\x1b[0m\r\n');
  assert.equal(exceptionIn(red), "ModuleNotFoundError: No module named 'torch' (train.py:1)");
  const during = 'During handling of the above exception, another exception occurred:\r\n\r\n';
  assert.equal(
    exceptionIn(`${plain}\r\n${during}${HEADER}${FRAME}data.Missing: 3\r\n`),
    'data.Missing: 3 (train.py:1)',
  );
});

test('a message of several lines is its first; what follows is none', () => {
  const error = 'torch.OutOfMemoryError: CUDA out of memory.\r\nSee the documentation: there\r\n';
  assert.equal(exceptionIn(`${HEADER}${FRAME}${error}`), 'torch.OutOfMemoryError: CUDA out of memory. (train.py:1)');
  assert.equal(exceptionIn(`${HEADER}${FRAME}StopIteration\r\nsaved.\r\n`), 'StopIteration (train.py:1)');
  assert.equal(exceptionIn(`${HEADER}${FRAME}KeyError: ${'x'.repeat(5000)}\r\n`)?.length, 400 + ' (train.py:1)'.length);
});

test('a file that does not compile has no header; output without an exception has none', () => {
  const syntax = '  File "/home/me/train.py", line 3\r\n    f(\r\n     ^\r\nSyntaxError: \'(\' was never closed\r\n';
  assert.equal(exceptionIn(syntax), "SyntaxError: '(' was never closed (train.py:3)");
  assert.equal(exceptionIn('Error: 3\r\nloss: 0.1\r\n'), null);
  assert.equal(exceptionIn(''), null);
});

test('its line is the innermost of the program’s own code: none of a library, and none without a file', () => {
  const frames = ['/env/lib/python3.11/site-packages/torch/nn.py', '/usr/lib/python3.11/runpy.py', '<frozen runpy>'];
  const below = frames.map(file => `  File "${file}", line 9, in call\r\n`).join('');
  assert.equal(exceptionIn(`${HEADER}${FRAME}${below}KeyError: 3\r\n`), 'KeyError: 3 (train.py:1)');
  assert.equal(exceptionIn(`${HEADER}${below}KeyError: 3\r\n`), 'KeyError: 3');
});

test('the line of a program that refused its arguments', () => {
  const usage = 'usage: train.py [-h] [--epochs EPOCHS]\r\n                [--size SIZE]\r\n';
  const line = 'train.py: error: unrecognized arguments: --epoch';
  assert.equal(refusalIn(`loss 3\r\n${usage}${line}\r\n\r\nPress any key.`), line);
  assert.equal(
    refusalIn("Usage: t.py [OPTIONS]\r\n\r\nError: No such option '--epoch'.\r\n"),
    "Error: No such option '--epoch'.",
  );
  assert.equal(refusalIn('usage: train.py [-h]\r\n'), null);
});
