// A page with one fault for each rule of the layout, at places that are known: what the probe must measure of it.
const CSS = `body { margin: 0; font: 16px/20px monospace }
  body > * { position: absolute }
  .cut { width: 3.5ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
  .past { width: 5ch; overflow: hidden }
  .outer, .inner { overflow-y: auto; width: 200px; height: 100px }
  .long { height: 300px }
  [role=grid] { overflow: hidden; width: 200px; height: 50px }
  .finding { width: 200px; height: 40px }
  .finding-toggle { position: absolute; left: 60px; top: 25px; height: 15px; padding: 0 }
  .details { overflow: hidden; width: 100px; height: 30px }`;

const at = (left, top) => `style="left: ${left}px; top: ${top}px"`;
const row = index => `<div role="row" data-row="${index}">row</div>`;

export const PLANTED = { width: 640, height: 400, rows: 4, findings: 1, open: false };
export const PLANTED_HTML = `<!doctype html><style>${CSS}</style>
  <div ${at(0, 0)}>first</div>
  <div ${at(20, 8)}>second</div>
  <div class="cut" role="tab" ${at(320, 0)}>123.4 MiB</div>
  <div class="past" ${at(520, 0)}>train.py:123</div>
  <section class="details" ${at(400, 0)}>title<div role="listbox">block</div><ol><li>frame</li></ol></section>
  <div class="timeline-surface" ${at(0, 40)}><canvas width="640" height="60"></canvas></div>
  <div class="outer" ${at(0, 104)}><div class="inner"><div class="long">text</div></div><div class="long"></div></div>
  <div role="grid" aria-rowcount="5" ${at(0, 240)}>${[0, 1, 2].map(row).join('')}</div>
  <article class="finding" data-open="true" ${at(0, 380)}>card<button class="finding-toggle">title</button></article>`;

/** The numbers that do not depend on the font. */
export const PLANTED_NUMBERS = {
  rows: { all: 4, drawn: 3, whole: 2 },
  cards: { all: 1, whole: 0 },
  head: { hidden: ['title'], height: 40 },
  details: { firstLine: false, frame: false, stackFirst: false },
  blank: { x: 200, y: 104, width: 440, height: 296 },
  cut: [{ text: '123.4 MiB', letters: 2, control: true, number: '123.4 MiB' }],
  lost: [{ text: 'train.py:123', by: '.past' }],
  nested: [
    { inner: '.outer', outer: 'the page' },
    { inner: '.inner', outer: '.outer' },
  ],
};
