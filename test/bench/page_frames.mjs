// Frame times of the page while it is scrolled and zoomed and the program runs: node test/bench/page_frames.mjs
// 5,000 rows, timelines of 100,000 points, changes ten times a second; Chromium draws without a GPU.
import { buildPage, openBrowser, openPage } from '../page/page.mjs';

const files = await buildPage();
const browser = await openBrowser();

/** Frame intervals, and milliseconds a frame in scripts, styles and layout, while `move` is called once a frame. */
async function measure(page, frames, move) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const spent = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1000]));
  };
  const before = await spent();
  const intervals = await page.evaluate(`(${countFrames})(${frames}, ${move})`);
  const after = await spent();
  const each = name => ((after[name] - before[name]) / frames).toFixed(2);
  return {
    intervals,
    script: each('ScriptDuration'),
    style: each('RecalcStyleDuration'),
    layout: each('LayoutDuration'),
  };
}

function countFrames(count, move) {
  return new Promise(done => {
    const intervals = [];
    let last = performance.now();
    const next = now => {
      intervals.push(now - last);
      last = now;
      if (intervals.length > count) return done(intervals.slice(1));
      move(intervals.length);
      window.requestAnimationFrame(next);
    };
    window.requestAnimationFrame(next);
  });
}

const SCROLL = `frame => { document.querySelector('.scroller').scrollTop = frame * 97 }`;
const JUMP = `frame => { document.querySelector('.scroller').scrollTop = (frame * 7919 * 38) % 180000 }`;
const WHEEL = `frame => { const s = document.querySelector('.timeline-surface'); const r = s.getBoundingClientRect();
  s.dispatchEvent(new WheelEvent('wheel', { deltaY: frame % 60 < 30 ? -40 : 40, clientX: r.left + r.width * 0.6, clientY: r.top + 40, bubbles: true, cancelable: true })) }`;

const MOVES = { 'live only': '() => {}', 'scroll 97 px a frame': SCROLL, 'jump a frame': JUMP, 'zoom a frame': WHEEL };

/** Megabytes that the page's scripts hold, without garbage. */
async function heapOf(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return (usedSize / 1e6).toFixed(1);
}

const rows = [];
const heaps = [];
for (const width of [360, 1000]) {
  const { page, context, errors } = await openPage(browser, files, { width, live: true });
  for (const [name, move] of Object.entries(MOVES)) {
    const { intervals, script, style, layout } = await measure(page, 180, move);
    const sorted = intervals.sort((a, b) => a - b);
    const at = part => sorted[Math.floor((sorted.length - 1) * part)].toFixed(1);
    const frame = { 'median ms': at(0.5), 'p95 ms': at(0.95), 'max ms': at(1) };
    rows.push({ width, move: name, ...frame, 'script ms': script, 'style ms': style, 'layout ms': layout });
  }
  heaps.push({ width, 'heap MB': await heapOf(page) });
  if (errors.length > 0) console.log(errors);
  await context.close();
}
console.table(rows);
console.table(heaps);
await browser.close();
