// Runs in the page: measures what of it is in sight, as numbers. It knows no class but those of the plot, the cards and the details.
const CELL_PX = 8;
/** Sides of a blank area in cells: a narrower gap keeps things apart. */
const LEAST_CELLS = 3;
const TOLERANCE_PX = 1;
/** A box of one colour without content that is no thicker is a drawn figure: a bar, a dot, a swatch. */
const FIGURE_PX = 24;
/** What is read first of a card. */
const HEAD = {
  title: '.finding-toggle',
  figures: '[data-value=figures]',
  fix: '[data-action=apply-fix]',
  'link to its line': '[data-action=open-holder], [data-action=open-line]',
  holder: '[data-part=holder]',
};
const FLOATING = '[role=tooltip], [role=menu], .tooltip, .timeline-tooltip';
/** A line of a file, or bytes: without its end it is another one. */
const NUMBERED = /[\w./]+\.\w+: ?\d+|[+\u2212-]?\d[\d.,]* (?:[KMGTP]i)?B\b/g;
const SEEN = { visibilityProperty: true, opacityProperty: true };

const parentOf = element => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null;
const common = (a, b) => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
const widthOf = box => Math.max(0, box.right - box.left);
const heightOf = box => Math.max(0, box.bottom - box.top);
const isThere = box => widthOf(box) > TOLERANCE_PX && heightOf(box) > TOLERANCE_PX;
const boxOf = element => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return { left, top, right, bottom };
};
const words = text => {
  const plain = text.trim().replace(/\s+/g, ' ');
  return plain.length > 40 ? `${plain.slice(0, 40)}…` : plain;
};

/** All elements with a box, those in shadow trees too, in the order of the document. */
function allElements() {
  const found = [];
  const walk = element => {
    if (!element.checkVisibility(SEEN)) {
      if (window.getComputedStyle(element).display !== 'contents') return;
    } else found.push(element);
    for (const child of [...(element.shadowRoot?.children ?? []), ...element.children]) walk(child);
  };
  walk(document.body);
  return found;
}

/** What one measurement needs of an element more than once. */
class Sight {
  constructor() {
    this.page = { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight };
    this.styles = new Map();
    this.clips = new Map();
  }

  style(element) {
    if (!this.styles.has(element)) this.styles.set(element, window.getComputedStyle(element));
    return this.styles.get(element);
  }

  /** The area in which the content of an element can be seen. */
  clip(element) {
    if (element === null) return this.page;
    if (!this.clips.has(element)) this.clips.set(element, this.makeClip(element));
    return this.clips.get(element);
  }

  makeClip(element) {
    const outer = this.clip(this.holder(element));
    const { overflowX, overflowY, contain } = this.style(element);
    const contained = /paint|strict|content/.test(contain);
    if (!contained && overflowX === 'visible' && overflowY === 'visible') return outer;
    if (element === document.body) return outer;
    const { left, top } = boxOf(element);
    const inner = { left: left + element.clientLeft, top: top + element.clientTop };
    const right = inner.left + element.clientWidth;
    const bottom = inner.top + element.clientHeight;
    const [sideways, upright] = [overflowX, overflowY].map(value => contained || value !== 'visible');
    return common(outer, {
      left: sideways ? inner.left : -Infinity,
      top: upright ? inner.top : -Infinity,
      right: sideways ? right : Infinity,
      bottom: upright ? bottom : Infinity,
    });
  }

  /** The element whose overflow cuts this one. */
  holder(element) {
    const { position } = this.style(element);
    if (position === 'fixed') return null;
    let holder = parentOf(element);
    if (position !== 'absolute') return holder;
    const isStatic = one => this.style(one).position === 'static' && this.style(one).contain === 'none';
    while (holder && isStatic(holder)) holder = parentOf(holder);
    return holder;
  }

  /** The part of an element that is in sight. */
  part(element) {
    return common(boxOf(element), this.clip(this.holder(element)));
  }

  isWhole(element) {
    const [box, part] = [boxOf(element), this.part(element)];
    return widthOf(part) >= widthOf(box) - TOLERANCE_PX && heightOf(part) >= heightOf(box) - TOLERANCE_PX;
  }

  /** Nothing lies over an element that is whole. */
  isFree(element) {
    const { left, top, right, bottom } = boxOf(element);
    const hits = [0.1, 0.5, 0.9].map(part => {
      return document.elementFromPoint(left + part * (right - left), (top + bottom) / 2);
    });
    return hits.every(hit => hit !== null && element.contains(hit));
  }
}

/** The lines of each text in sight: {node, text, element, box}. */
function textsOf(sight, elements) {
  const range = document.createRange();
  const found = [];
  for (const element of elements) {
    for (const node of element.childNodes) {
      // A dot between facts is clipped at the begin of a line.
      if (node.nodeType !== 3 || /^[\s·]*$/.test(node.data)) continue;
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const box = common(rect, sight.clip(element));
        if (isThere(box)) found.push({ node, text: words(node.data), element, box });
      }
    }
  }
  return found;
}

const isTransparent = colour => colour === 'transparent' || /(?:, ?|\/ ?)0\)$/.test(colour);

function bordersOf(style, { left, top, right, bottom }) {
  const strip = side => (isTransparent(style[`border${side}Color`]) ? 0 : parseFloat(style[`border${side}Width`]));
  const [upper, lower, first, last] = ['Top', 'Bottom', 'Left', 'Right'].map(strip);
  return [
    { left, right, top, bottom: top + upper },
    { left, right, top: bottom - lower, bottom },
    { left, right: left + first, top, bottom },
    { left: right - last, right, top, bottom },
  ].filter(box => widthOf(box) > 0 && heightOf(box) > 0);
}

const hasIcon = element =>
  ['::before', '::after'].some(part => {
    const { content } = window.getComputedStyle(element, part);
    return content !== 'none' && content !== 'normal' && content !== '""';
  });

function isFigure(element, style, box) {
  if (element.childElementCount > 0 || element.textContent.trim() !== '') return false;
  return !isTransparent(style.backgroundColor) && Math.min(widthOf(box), heightOf(box)) <= FIGURE_PX;
}

/** The areas where something is drawn; a row of a list is one area, with the gaps between its columns. */
function drawnOf(sight, elements, texts) {
  const areas = texts.map(({ box }) => box);
  for (const element of elements) {
    const box = sight.part(element);
    if (widthOf(box) === 0 || heightOf(box) === 0) continue;
    const style = sight.style(element);
    const isWhole =
      element.matches('canvas, svg, img, input, textarea, [role=row], [role=option]') ||
      style.backgroundImage !== 'none' ||
      isFigure(element, style, box) ||
      hasIcon(element);
    if (isWhole) areas.push(box);
    else areas.push(...bordersOf(style, boxOf(element)).map(strip => common(strip, box)));
  }
  return areas;
}

/** The biggest rectangle of cells in which nothing is drawn, in pixels. */
function biggestBlank(areas) {
  const columns = Math.floor(window.innerWidth / CELL_PX);
  const lines = Math.floor(window.innerHeight / CELL_PX);
  const drawn = Array.from({ length: lines }, () => new Uint8Array(columns));
  for (const { left, top, right, bottom } of areas) {
    if (right <= left || bottom <= top) continue;
    for (let y = Math.max(0, Math.floor(top / CELL_PX)); y < Math.min(lines, Math.ceil(bottom / CELL_PX)); y++)
      drawn[y].fill(1, Math.max(0, Math.floor(left / CELL_PX)), Math.max(0, Math.ceil(right / CELL_PX)));
  }
  const heights = new Uint16Array(columns + 1);
  let best = { x: 0, y: 0, width: 0, height: 0 };
  for (let y = 0; y < lines; y++) {
    for (let x = 0; x < columns; x++) heights[x] = drawn[y][x] ? 0 : heights[x] + 1;
    best = biggestOf([best, ...blanksAbove(heights, y)]);
  }
  return best;
}

const biggestOf = all => all.reduce((a, b) => (b.width * b.height > a.width * a.height ? b : a));

/** The rectangles that end in a line of cells; `heights`: blank cells above each, with a 0 at the end. */
function blanksAbove(heights, y) {
  const found = [];
  const open = [];
  for (let x = 0; x < heights.length; x++) {
    let from = x;
    while (open.length > 0 && open.at(-1).height > heights[x]) {
      const { at, height } = open.pop();
      from = at;
      if (height < LEAST_CELLS || x - at < LEAST_CELLS) continue;
      const [width, tall] = [(x - at) * CELL_PX, height * CELL_PX];
      found.push({ x: at * CELL_PX, y: (y + 1) * CELL_PX - tall, width, height: tall });
    }
    if (heights[x] > (open.at(-1)?.height ?? 0)) open.push({ at: from, height: heights[x] });
  }
  return found;
}

/** The text of an element in its own lines, as characters. */
function charactersOf(sight, element) {
  const found = [];
  const walk = parent => {
    for (const child of parent.childNodes) {
      if (child.nodeType === 3) for (let at = 0; at < child.length; at++) found.push([child, at]);
      else if (child.nodeType === 1 && sight.style(child).display === 'inline') walk(child);
    }
  };
  if (!/flex|grid/.test(sight.style(element).display)) walk(element);
  return found;
}

/** The place of the first character that the dots of a text that is cut stand for. */
function firstCut(sight, element, characters) {
  const style = sight.style(element);
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = style.font;
  const inner = boxOf(element).left + element.clientLeft + element.clientWidth - parseFloat(style.paddingRight);
  const end = inner - pen.measureText('…').width;
  const range = document.createRange();
  const beyond = characters.findIndex(([node, at]) => {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect().right > end;
  });
  return beyond < 0 ? characters.length : beyond;
}

/** The texts that end in dots, with how many letters stand before these. */
function cutTexts(sight, elements) {
  const cut = elements.filter(element => {
    const { textOverflow, overflowX } = sight.style(element);
    const isCut = textOverflow !== 'clip' && overflowX !== 'visible' && element.scrollWidth > element.clientWidth;
    if (!isCut) return false;
    const [box, part] = [boxOf(element), sight.part(element)];
    // What has no width any more is cut to nothing; what has one stands in sight.
    return heightOf(part) > TOLERANCE_PX && (widthOf(part) > TOLERANCE_PX || widthOf(box) <= TOLERANCE_PX);
  });
  return cut.flatMap(element => {
    const characters = charactersOf(sight, element);
    const text = characters.map(([node, at]) => node.data[at]).join('');
    const at = firstCut(sight, element, characters);
    const lettersOf = some => some.replace(/\s/g, '').length;
    const letters = lettersOf(text.slice(0, at));
    const number = [...text.matchAll(NUMBERED)].find(({ index, 0: all }) => index < at && at < index + all.length);
    const { host } = element.getRootNode();
    // A selector whose title has the whole text may be cut.
    const control = element.closest('[role=tab]') !== null || (host !== undefined && !host.title.includes(text.trim()));
    const whole = { text: words(element.textContent), letters, control, number: number?.[0] ?? '' };
    return letters === lettersOf(text) ? [] : [whole];
  });
}

/** What cuts a text on its left or right without dots, where the page cannot be scrolled to the rest; null: nothing does. */
function cutter(sight, element, { left, right }) {
  for (let one = element; one; one = sight.holder(one)) {
    const { overflowX, textOverflow, contain, display } = sight.style(one);
    const isOpen = overflowX === 'visible' && !/paint|strict|content/.test(contain);
    if (isOpen || display === 'inline' || one === document.body) continue;
    const first = boxOf(one).left + one.clientLeft;
    if (right <= first + one.clientWidth + TOLERANCE_PX && left >= first - TOLERANCE_PX) continue;
    const isHidden = one.clientWidth <= TOLERANCE_PX; // only screen readers know it
    return isHidden || /auto|scroll/.test(overflowX) || textOverflow !== 'clip' ? null : nameOf(one);
  }
  return left < -TOLERANCE_PX || right > window.innerWidth + TOLERANCE_PX ? 'the page' : null;
}

/** The lines of text that an edge cuts, and what could be shifted sideways by a focus though it shows no bar. */
function lostOf(sight, elements) {
  const range = document.createRange();
  const found = [];
  for (const element of elements) {
    const { overflowX, overflowY } = sight.style(element);
    const isShifted = overflowX === 'hidden' && /auto|scroll/.test(overflowY);
    if (isShifted && element.scrollWidth > element.clientWidth + TOLERANCE_PX)
      found.push({ text: nameOf(element), by: 'its own edge' });
    for (const node of element.childNodes) {
      // A dot between facts is clipped at the begin of a line.
      if (node.nodeType !== 3 || /^[\s·]*$/.test(node.data)) continue;
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const { top, bottom } = sight.clip(element);
        if (Math.min(bottom, rect.bottom) - Math.max(top, rect.top) <= TOLERANCE_PX) continue;
        const by = cutter(sight, element, rect);
        if (by !== null) found.push({ text: words(node.data), by });
      }
    }
  }
  return found;
}

function overlapsOf(texts) {
  const standing = texts.filter(({ element }) => element.closest(FLOATING) === null);
  standing.sort((a, b) => a.box.top - b.box.top);
  const found = [];
  standing.forEach((a, i) => {
    for (let j = i + 1; j < standing.length && standing[j].box.top < a.box.bottom - TOLERANCE_PX; j++) {
      const b = standing[j];
      const both = common(a.box, b.box);
      if (a.node === b.node || !isThere(both)) continue;
      found.push({ a: a.text, b: b.text, width: widthOf(both), height: heightOf(both) });
    }
  });
  return found;
}

const nameOf = element => element.getAttribute('aria-label') || `.${[...element.classList].join('.')}`;

/** Each element that scrolls up and down inside another one. */
function nestedScrolls(sight, elements) {
  const scrolls = element => element.scrollHeight > element.clientHeight + 1;
  const scrolling = elements.filter(
    element => /auto|scroll/.test(sight.style(element).overflowY) && scrolls(element) && isThere(sight.part(element)),
  );
  const root = document.scrollingElement;
  const isFixed = [root, document.body].some(element => /hidden|clip/.test(sight.style(element).overflowY));
  return scrolling.flatMap(inner => {
    let outer = parentOf(inner);
    while (outer && !scrolling.includes(outer)) outer = parentOf(outer);
    if (outer) return [{ inner: nameOf(inner), outer: nameOf(outer) }];
    return !isFixed && scrolls(root) ? [{ inner: nameOf(inner), outer: 'the page' }] : [];
  });
}

/** null where there are none in sight; else what of them is in sight without scrolling. */
function detailsOf(sight, elements) {
  const details = elements.find(element => element.matches('.details'));
  if (!details) return null;
  const inside = elements.filter(element => element !== details && details.contains(element));
  const first = inside.find(element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
  const frame = inside.find(element => element.matches('ol li'));
  const list = inside.find(element => element.matches('[role=listbox]') && heightOf(boxOf(element)) > 0);
  return {
    firstLine: first !== undefined && heightOf(sight.part(first)) >= heightOf(boxOf(first)) - TOLERANCE_PX,
    frame: frame !== undefined && heightOf(sight.part(frame)) >= heightOf(boxOf(frame)) - TOLERANCE_PX,
    stackFirst: frame !== undefined && (list === undefined || boxOf(frame).top < boxOf(list).top),
  };
}

/** What is read first of the card that is open: which of it is not in sight, and its height; null where none is open. */
function headOf(sight, elements) {
  const card = elements.find(element => element.matches('.finding[data-open=true]'));
  if (!card) return null;
  const parts = Object.entries(HEAD).flatMap(([name, selector]) => {
    const part = elements.find(element => card.contains(element) && element.matches(selector));
    return part ? [{ name, part }] : [];
  });
  const ends = parts.map(({ part }) => boxOf(part).bottom);
  const hidden = parts.filter(({ part }) => !sight.isWhole(part)).map(({ name }) => name);
  return { hidden, height: Math.max(...ends) - boxOf(card).top };
}

/** The page in numbers. */
function measure() {
  const sight = new Sight();
  const elements = allElements();
  const texts = textsOf(sight, elements);
  const plot = elements.find(element => element.matches('.timeline-surface'));
  const rows = elements.filter(element => element.matches('[role=row][data-row]'));
  const cards = elements.filter(element => element.matches('.finding'));
  const whole = rows.filter(row => row.getAttribute('aria-busy') !== 'true' && sight.isWhole(row) && sight.isFree(row));
  return {
    plot: plot ? { height: heightOf(boxOf(plot)), seen: heightOf(sight.part(plot)) } : null,
    rows: {
      all: Number(rows[0]?.closest('[aria-rowcount]')?.getAttribute('aria-rowcount') ?? 1) - 1,
      drawn: rows.length,
      whole: whole.length,
    },
    cards: { all: cards.length, whole: cards.filter(card => sight.isWhole(card)).length },
    head: headOf(sight, elements),
    details: detailsOf(sight, elements),
    texts: texts.length,
    blank: biggestBlank(drawnOf(sight, elements, texts)),
    cut: cutTexts(sight, elements),
    lost: lostOf(sight, elements),
    overlaps: overlapsOf(texts),
    nested: nestedScrolls(sight, elements),
  };
}

/** Scrolls everything back to its begin; whether anything was elsewhere. */
function toBegin() {
  const moved = [document.scrollingElement, ...allElements()].filter(
    element => element.scrollTop !== 0 || element.scrollLeft !== 0,
  );
  for (const element of moved) element.scrollTo(0, 0);
  return moved.length > 0;
}

window.layout = { measure, toBegin };
