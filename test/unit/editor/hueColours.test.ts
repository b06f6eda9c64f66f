import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { HUE_COLOURS, hueColours } from '../../../extension/editor/hueColours';
import { lineHue } from '../../../extension/protocol/lineHue';

test('beside the code a line has the colour that the manifest gives the page', () => {
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    contributes: { colors: { id: string; defaults: { light: string; dark: string } }[] };
  };
  const given = contributes.colors.map(({ id, defaults: { light, dark } }) => ({ id, light, dark }));
  const own = HUE_COLOURS.map((colours, i) => ({ id: `gpuMemoryTrace.line${i + 1}`, ...colours }));
  assert.deepEqual(given, own);
});

test('a line that the timeline stacks has its colour in full, another one a lighter shade', () => {
  assert.equal(hueColours(lineHue('/x/a.py:1', new Map([['/x/a.py:1', 0]]))).dark, '#59a4f9ff');
  assert.match(hueColours(lineHue('/x/a.py:1', new Map())).dark, /^#\w{6}(a6|66)$/);
});
