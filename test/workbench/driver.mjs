// Does in the window what a test in the extension host requests and cannot do itself: see and touch pixels.
// The test writes `N.request.json` into a folder that both know; the answer comes as `N.answer.json`:
// {value} or {error}. Requests: see `actions`.
import { createRequire } from 'node:module';
import { readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameWith } from './workbench.mjs';

const SHOWN_MS = 2_000;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Where the element lies in the window, once it is scrolled to: the mouse reaches nothing else. */
async function boxInSight(page, selector, wait) {
  const element = (await frameWith(page, selector, wait)).locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  return element.boundingBox();
}

const actions = {
  /** A picture of the window. */
  async shot(page, { file }) {
    await page.screenshot({ path: file, type: 'png' });
  },
  /** The rows that a webview shows: where each points and the text of its cells. */
  async rows(page, { wait }) {
    const frame = await frameWith(page, '[data-row]', wait);
    return frame.locator('[data-row]').evaluateAll(rows =>
      rows.map(row => ({
        row: row.dataset.row,
        file: row.dataset.file,
        line: Number(row.dataset.line),
        cells: Object.fromEntries(
          [...row.querySelectorAll('[data-column]')].map(cell => [cell.dataset.column, cell.textContent.trim()]),
        ),
      })),
    );
  },
  /** Clicks in the frame that holds the selector (the window itself is one); `position`: not in the element's middle. */
  async click(page, { selector, wait, double, position, how }) {
    const target = (await frameWith(page, selector, wait)).locator(selector).first();
    await (double ? target.dblclick({ position }) : target.click({ position, ...how }));
  },
  async hover(page, { selector, wait }) {
    await (await frameWith(page, selector, wait)).locator(selector).first().hover();
  },
  /** Presses a key in the element, `Enter` or `Control+a`. One that is about to be shown takes no focus yet, and the key would go elsewhere. */
  async press(page, { selector, key, wait }) {
    const target = (await frameWith(page, selector, wait)).locator(selector).first();
    await target.waitFor({ state: 'visible', timeout: SHOWN_MS }).catch(() => undefined);
    await target.press(key);
  },
  /** Drags with the mouse from one place of the element to another, both parts of its width; `key` is held. */
  async drag(page, { selector, from, to, key, wait }) {
    const box = await boxInSight(page, selector, wait);
    const y = box.y + box.height / 2;
    if (key) await page.keyboard.down(key);
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to, y, { steps: 8 });
    await page.mouse.up();
    if (key) await page.keyboard.up(key);
  },
  /** Turns the wheel over a place of the element; down is positive. */
  async wheel(page, { selector, at, by, wait }) {
    const box = await boxInSight(page, selector, wait);
    await page.mouse.move(box.x + box.width * at, box.y + box.height / 2);
    await page.mouse.wheel(0, by);
  },
  async fill(page, { selector, text, wait }) {
    await (await frameWith(page, selector, wait)).locator(selector).first().fill(text);
  },
  async value(page, { selector, wait }) {
    return (await frameWith(page, selector, wait)).locator(selector).first().inputValue();
  },
  /** Types into what has the focus. */
  async type(page, { text }) {
    await page.keyboard.type(text);
  },
  /** Presses keys, one after another, wherever the focus is. */
  async keys(page, { keys }) {
    for (const key of keys) await page.keyboard.press(key);
  },
  /** What has the focus in the frame that holds the selector, and whether the focus can be seen; null: nothing there. */
  async focused(page, { selector, wait }) {
    return (await frameWith(page, selector, wait)).evaluate(focusNow);
  },
  /** What moves in the frame that holds the selector, as a user who wants reduced motion, or any user, sees it. */
  async motions(page, { selector, reduced, wait }) {
    const frame = await frameWith(page, selector, wait);
    await page.emulateMedia({ reducedMotion: reduced ? 'reduce' : 'no-preference' });
    await frame.evaluate(restNow);
    const found = await frame.evaluate(() =>
      document.getAnimations().map(({ effect, animationName }) => `${animationName} ${effect.target.className}`),
    );
    await page.emulateMedia({ reducedMotion: null });
    return found;
  },
  /** Waits until the frame that holds the selector neither changes nor moves any more. */
  async rest(page, { selector, wait }) {
    await (await frameWith(page, selector, wait)).evaluate(restNow);
  },
  /** The texts of all elements of the first frame that holds the selector. */
  async texts(page, { selector, wait }) {
    return (await frameWith(page, selector, wait)).locator(selector).allInnerTexts();
  },
  /** What style rules put behind the elements, where there is something (how editors show text of decorations). */
  async behind(page, { selector, wait }) {
    const found = (await frameWith(page, selector, wait)).locator(selector);
    const contents = await found.evaluateAll(all => all.map(one => window.getComputedStyle(one, '::after').content));
    return contents.filter(text => text.startsWith('"')).map(text => JSON.parse(text));
  },
  /** What a property of their style comes out as, of each element. */
  async styles(page, { selector, property, wait }) {
    const found = (await frameWith(page, selector, wait)).locator(selector);
    return found.evaluateAll(
      (all, name) => all.map(one => window.getComputedStyle(one).getPropertyValue(name)),
      property,
    );
  },
  /** What axe-core finds wrong for people who use a screen reader or a keyboard: rule, how bad, the elements. */
  async violations(page, { selector, rules, wait }) {
    const frame = await frameWith(page, selector, wait);
    if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(axe);
    const { violations } = await frame.evaluate(
      async ([inside, runOnly]) => {
        // The window draws what is behind a page outside of it, where axe-core sees white.
        const { style } = document.documentElement;
        style.setProperty('background', 'var(--vscode-sideBar-background)');
        const found = await window.axe.run(inside, runOnly ? { runOnly } : {});
        style.removeProperty('background');
        return found;
      },
      [selector, rules],
    );
    const colours = ({ any }) => {
      const data = any.find(({ id }) => id === 'color-contrast')?.data;
      return data ? `(${data.fgColor} on ${data.bgColor}) ` : '';
    };
    return violations.map(
      ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(node => colours(node) + node.html).join(' ')}`,
    );
  },
  /** Real time (ms) at which the frame that holds the selector first painted something. */
  async painted(page, { selector, wait }) {
    const frame = await frameWith(page, selector, wait);
    return frame.evaluate(() => {
      const paint = window.performance.getEntriesByName('first-contentful-paint')[0];
      return paint ? window.performance.timeOrigin + paint.startTime : 0;
    });
  },
  /** From now on notes the texts of these elements of the frame together, each time that they are new, for `watched`. */
  async watchTexts(page, { selector, selectors, wait }) {
    const frame = await frameWith(page, selector, wait);
    await frame.evaluate(all => {
      window.watched = [];
      const note = () => {
        const now = all.map(one => document.querySelector(one)?.textContent ?? '');
        if (String(now) !== String(window.watched.at(-1))) window.watched.push(now);
      };
      // Sizes are observed once all that draws in a frame has drawn.
      const check = () => {
        const drawn = new window.ResizeObserver(() => {
          drawn.disconnect();
          note();
        });
        drawn.observe(document.body);
        window.requestAnimationFrame(check);
      };
      check();
    }, selectors);
  },
  async watched(page, { selector, wait }) {
    return (await frameWith(page, selector, wait)).evaluate(() => window.watched);
  },
  /** From now on notes in the frame when a row of each line was first painted, for `seen`. */
  async watchRows(page, { selector, wait }) {
    const frame = await frameWith(page, selector, wait);
    await frame.evaluate(() => {
      window.seenRows = {};
      const check = () => {
        for (const row of document.querySelectorAll('[data-row]')) window.seenRows[row.dataset.line] ??= Date.now();
        window.requestAnimationFrame(check);
      };
      check();
    });
  },
  async seen(page, { selector, wait }) {
    return (await frameWith(page, selector, wait)).evaluate(() => window.seenRows);
  },
  /** Bytes that scripts of the frame with the selector hold, without garbage; `shared`: with those of the whole window. */
  async heap(page, { selector, wait }) {
    const frame = await frameWith(page, selector, wait);
    const own = await page
      .context()
      .newCDPSession(frame)
      .catch(() => null);
    const devtools = own ?? (await page.context().newCDPSession(page));
    await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await devtools.send('Runtime.getHeapUsage');
    await devtools.detach();
    return { bytes: usedSize, shared: own === null };
  },
  async attribute(page, { selector, name, wait }) {
    return (await frameWith(page, selector, wait)).locator(selector).first().getAttribute(name);
  },
};

/** Runs in the page. Resolves when for some frames nothing changed and no transition ran; what moves for ever does not count. */
function restNow() {
  const FRAMES = 6;
  return new Promise(done => {
    let calm = 0;
    const watch = new window.MutationObserver(() => (calm = 0));
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const moves = ({ effect, playState }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity;
    const check = () => {
      calm = document.getAnimations().some(moves) ? 0 : calm + 1;
      if (calm < FRAMES) return window.requestAnimationFrame(check);
      watch.disconnect();
      done();
    };
    check();
  });
}

/** Runs in the page. A control of the toolkit draws its focus inside its shadow. */
function focusNow() {
  const host = document.activeElement;
  if (!host || host === document.body || !document.hasFocus()) return null;
  const parts = [host];
  for (let at = host; at; at = at.shadowRoot?.activeElement) parts.push(at);
  const inner = host.shadowRoot ? [...host.shadowRoot.querySelectorAll('*')] : [];
  const shows = element => {
    const { outlineStyle, outlineWidth, boxShadow, borderColor } = window.getComputedStyle(element);
    const mark = window.getComputedStyle(document.body).getPropertyValue('--vscode-focusBorder').trim();
    const probe = document.body.appendChild(Object.assign(document.createElement('i'), { style: `color:${mark}` }));
    const colour = window.getComputedStyle(probe).color;
    probe.remove();
    return (
      (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) ||
      boxShadow.includes(colour) ||
      borderColor.includes(colour)
    );
  };
  const { width, height } = host.getBoundingClientRect();
  const name = ['control', 'action', 'tab', 'sort', 'series', 'notice'].map(key => host.dataset[key]).find(Boolean);
  return {
    name: name ?? `${host.localName}.${host.className}`,
    seen: width > 0 && height > 0 && [...parts, ...inner].some(shows),
  };
}

async function answer(page, { action, ...request }) {
  try {
    if (!actions[action]) throw new Error(`There is no action ${action}.`);
    return { value: (await actions[action](page, { wait: 5000, ...request })) ?? null };
  } catch (error) {
    return { error: error.message };
  }
}

/** Answers requests in `folder` until `page` is closed. */
export async function serveRequests(page, folder) {
  let found = () => {};
  const watcher = watch(folder, () => found());
  watcher.once('close', () => found());
  page.once('close', () => watcher.close());
  while (!page.isClosed()) {
    const next = new Promise(done => (found = done)); // before the search: none is missed
    for (const name of readdirSync(folder).filter(name => name.endsWith('.request.json'))) {
      const request = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      rmSync(join(folder, name));
      const file = join(folder, name.replace('.request.', '.answer.'));
      writeFileSync(file + '.part', JSON.stringify(await answer(page, request)));
      renameSync(file + '.part', file);
    }
    await next;
  }
  watcher.close();
}
