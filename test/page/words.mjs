// Every text of the page can be translated: with «…» around each, nothing but names and figures stands outside.
//   node test/page/all.mjs words
import assert from 'node:assert/strict';
import { messages } from '../project/l10n.mjs';
import { LONG } from '../long.mjs';
import { runChecks } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const strings = Object.fromEntries(messages().map(text => [text, `«${text}»`]));
/** Fields of the host's answers whose texts the page shows as they are. */
const FIELDS =
  'file function label name path title tooltip headline detail sentence next suggestion evidence ruledOut because text status detail command cause stack error names byCause type chain heldWhen'.split(
    ' ',
  );
const FIGURE = /[+−-]?[\d.,]+\s?(?:(?:[KMGTP]i)?B|ns|µs|ms|s|min|h|%)?(?:\/s)?(?![\w])/g;
const WORD = /\p{L}{2,}/u;
/** Names that are not of the trace: devices, keys, what Python and its packages call things. */
const FIXED = /\bcuda:\d+\b|\b0x[\da-f]+\b|\b(?:Enter|Ctrl\+C|gc\.collect\(\)|gc|torch|list|[AP]M\b)/g;

const browser = await openBrowser();
const { page, errors, context } = await openPage(browser, await buildPage({ strings }), { width: 1000, height: 1300 });
const pause = () => settled(page);

/** Texts and the attributes that are read out, of all elements, seen or not. */
const shown = () =>
  page.evaluate(() => {
    const found = [];
    for (const element of document.body.querySelectorAll('*')) {
      if (['SCRIPT', 'STYLE'].includes(element.tagName)) continue;
      for (const name of ['aria-label', 'title', 'placeholder', 'aria-roledescription'])
        if (element.hasAttribute(name)) found.push(element.getAttribute(name));
      if (element.closest('.named, .unbroken, .ending')) continue;
      // A sentence may have its names and figures in elements, so that they stay whole.
      let sentence = '';
      for (const node of [...element.childNodes, document.createElement('hr')]) {
        if (node.nodeType === 3 || node.matches('.named, .unbroken, .ending, wbr')) sentence += node.textContent;
        else if (sentence !== '') {
          found.push(sentence);
          sentence = '';
        }
      }
    }
    return [...new Set(found)];
  });

/** The names in the messages of the host, longest first: file and function names, sentences of findings. Gathered there: its answers are big. */
async function namesOfHost() {
  const names = await page.evaluate(fields => {
    const found = (window.namesOfHost ??= { names: new Set(), read: 0 });
    const gather = (value, field) => {
      if (typeof value === 'string') {
        if (fields.includes(field))
          for (const name of [value, value.split('/').pop(), ...value.split(/`|: |\S+\.py:\d+/)]) found.names.add(name);
      } else if (Array.isArray(value)) value.forEach(one => gather(one, field));
      else if (value !== null && typeof value === 'object' && !ArrayBuffer.isView(value))
        for (const [key, one] of Object.entries(value)) {
          if (field === 'byCause') found.names.add(key);
          gather(one, key);
        }
    };
    for (; found.read < window.bench.messages.length; found.read++) gather(window.bench.messages[found.read], '');
    return [...found.names];
  }, FIELDS);
  const classes = names.flatMap(name => /^(\w+\.)\w+$/.exec(name)?.[1] ?? []); // of methods, an element of their own
  return [...names, ...classes].filter(name => name.length > 1 && /\D/.test(name)).sort((a, b) => b.length - a.length);
}

function left(text, names) {
  let rest = text;
  for (let before = ''; before !== rest;) [before, rest] = [rest, rest.replace(/«[^«»]*»/g, ' ')];
  if (!WORD.test(rest)) return rest;
  for (const name of names) rest = rest.replaceAll(name, ' ');
  return rest.replace(FIXED, ' ').replace(FIGURE, ' ');
}

/** Texts that were found to be whole; names only become more. */
const wrapped = new Set();

async function allWrapped() {
  await pause();
  const names = await namesOfHost();
  const texts = (await shown()).filter(text => !wrapped.has(text));
  const bare = texts.filter(text => WORD.test(left(text, names)));
  assert.deepEqual(bare, []);
  for (const text of texts) wrapped.add(text);
  assert.ok([...wrapped].filter(text => text.includes('«')).length > 20, 'the translations are used');
}
const tab = name => page.locator(`[data-tab=${name}]`).click();

const show = scene =>
  page.evaluate(one => window.bench.host.postMessage({ type: 'scene', scene: one, live: false, devices: 2 }), scene);

const checks = {
  async 'the page with a finding and the table'() {
    await page.locator('[data-finding] [data-action=why]').first().click();
    await allWrapped();
  },
  async 'who holds it'() {
    for (const part of ['.finding-toggle', '[data-action=who-holds]'])
      await page.locator(`[data-finding="leak 1"] ${part}`).click();
    await allWrapped();
  },
  async 'menus, a wrong filter, selected rows, details'() {
    await page.locator('[data-action=columns]').click();
    await allWrapped();
    await page.keyboard.press('Escape');
    await page.locator('[data-row="1"]').click({ button: 'right' });
    await allWrapped();
    await page.keyboard.press('Escape');
    await page.locator('[role=grid]').first().focus();
    for (const key of ['Home', 'Shift+ArrowDown', 'Shift+ArrowDown']) await page.keyboard.press(key);
    await allWrapped();
    await page.locator('[data-control=filter]').click();
    await page.keyboard.type('age>old');
    await allWrapped();
    await page.keyboard.press('Escape');
  },
  async 'each grouping, and the tree'() {
    for (const by of LONG ? ['site', 'function', 'thread', 'stacks', 'modules', 'line'] : ['modules', 'line']) {
      await page.locator('[data-control=group]').click();
      await page.locator(`[data-control=group] vscode-option[value=${by}]`).click();
      await allWrapped();
    }
  },
  async 'one block'() {
    await page.locator('[data-row="1"]').click();
    await pause();
    await page.locator('[id^=block-]').first().click();
    await allWrapped();
  },
  async 'the timeline with a tooltip, a span and a moment'() {
    const surface = page.locator('.timeline-surface');
    await surface.hover();
    await allWrapped();
    await surface.focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('Shift+ArrowLeft');
    await allWrapped();
    for (const choice of ['born', 'end', 'peak']) {
      await page.locator(`[data-action=span-${choice}]`).click();
      await allWrapped();
    }
  },
  async 'the other tabs'() {
    for (const name of ['flame', 'segments', 'compare']) {
      await tab(name);
      await pause();
      await page.keyboard.press('Tab');
      await allWrapped();
    }
  },
  async 'before and after a run'() {
    for (const scene of [
      { phase: 'empty', info: null, title: '' },
      { phase: 'empty', info: null, title: '', trusted: false },
      { phase: 'starting', info: null, detail: '' },
      { phase: 'running', recording: false, simulated: true },
      { phase: 'ended', exitCode: 1, detail: '' },
    ]) {
      await show(scene);
      await allWrapped();
    }
  },
};

export const result = await runChecks(checks, { page, errors, context });
