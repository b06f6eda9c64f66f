// Runs in the page, before its own scripts: detects when it has come to rest. At rest it waits for no answer, no frame and no timer
// that ends soon; those that end late are questions that repeat.
const SOON_MS = 1300;
const PATIENCE_MS = 120_000;
const FRAMES_AT_REST = 3;
const frame = window.requestAnimationFrame.bind(window);
const busy = { timers: new Set(), frames: new Set(), answers: 0 };
/** What goes on once it waits for no answer and no timer: checks at each frame meanwhile would draw them all. */
const waiting = [];
const isWaiting = () => busy.timers.size > 0 || busy.answers > 0;
const wake = () => isWaiting() || waiting.splice(0).forEach(check => frame(check));

const setTimer = window.setTimeout.bind(window);
const clearTimer = window.clearTimeout.bind(window);
window.setTimeout = (run, milliseconds = 0, ...rest) => {
  const timer = setTimer(() => {
    busy.timers.delete(timer);
    wake();
    run(...rest);
  }, milliseconds);
  if (milliseconds < SOON_MS) busy.timers.add(timer);
  return timer;
};
window.clearTimeout = timer => {
  busy.timers.delete(timer);
  clearTimer(timer);
  wake();
};
window.requestAnimationFrame = run => {
  const id = frame(time => {
    busy.frames.delete(id);
    run(time);
  });
  busy.frames.add(id);
  return id;
};
const cancelFrame = window.cancelAnimationFrame.bind(window);
window.cancelAnimationFrame = id => {
  busy.frames.delete(id);
  cancelFrame(id);
};

/** Milliseconds: a program that sends nothing new runs on slowly, so that the chart ends where a check expects it, however slow the machine is. */
const SLOWER = 100;
const milliseconds = window.performance.now.bind(window.performance);
const openedMs = milliseconds();
window.performance.now = () => (window.bench.live ? milliseconds() : openedMs + (milliseconds() - openedMs) / SLOWER);

const host = new window.Worker('/fakeHost.js');
const post = host.postMessage.bind(host);
host.postMessage = message => {
  busy.answers += message.type === 'batch' ? message.messages.length : 1;
  post(message);
};

/** Resolves at rest; rejects with what it still waits for. */
const settled = () =>
  new Promise((done, fail) => {
    let calm = 0;
    const late = setTimer(() => {
      const left = [busy.timers.size, busy.frames.size, busy.answers];
      fail(new Error(`The page does not come to rest: timers, frames, answers: ${left}`));
    }, PATIENCE_MS);
    const check = () => {
      if (isWaiting()) {
        calm = 0;
        waiting.push(check);
        return;
      }
      calm = busy.frames.size === 0 ? calm + 1 : 0;
      if (calm < FRAMES_AT_REST) return frame(check);
      clearTimer(late);
      done();
    };
    frame(check);
  });

window.bench = {
  live: false,
  calls: [],
  answers: [],
  requests: [],
  session: null,
  violations: [],
  saved: null,
  messages: [],
  changes: 0,
  host,
  settled,
};
window.addEventListener('securitypolicyviolation', event =>
  window.bench.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
);
host.onmessage = ({ data }) => {
  if (data.type === 'bench') return (data.ms === undefined ? window.bench.calls : window.bench.answers).push(data);
  if (data.type === 'session') window.bench.session = data;
  if (data.type === 'changed') window.bench.changes++;
  if (document.getElementById('app').dataset.strings !== '{}') window.bench.messages.push(data);
  window.postMessage(data, '*');
  if (data.type !== 'session' && data.type !== 'response') return;
  busy.answers--;
  wake();
};
window.acquireVsCodeApi = () => ({
  postMessage: message => {
    window.bench.requests.push(...(message.type === 'batch' ? message.messages : [message]));
    host.postMessage(message);
  },
  getState: () => window.bench.saved,
  setState: state => (window.bench.saved = state),
});
