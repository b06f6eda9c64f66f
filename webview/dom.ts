// Small helpers over the DOM. Text is always set as text: nothing of a trace is read as HTML.

export type Attributes = Record<string, string | number | boolean | null>;

/** An element with attributes (false and null leave one out, true is empty) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes?: Attributes,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K];
export function el(tag: string, attributes?: Attributes, ...children: (Node | string)[]): HTMLElement;
export function el(tag: string, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null) element.removeAttribute(name);
    else setAttribute(element, name, value === true ? '' : String(value));
  }
}

/** Writes only what differs, so that an unchanged row costs no style or layout work. */
export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Where nothing changes it writes nothing: for an attribute of the same value the browser would style the element anew. */
export function setHidden(element: HTMLElement, hidden: boolean): void {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** A text that takes no room while it is empty. */
export function setTextOrHide(element: HTMLElement, text: string): void {
  setText(element, text);
  setHidden(element, text === '');
}

/** A plain button; `action` names it for tests and styles, null: something else does. */
export function button(
  style: string,
  action: string | null,
  label: string | readonly (Node | string)[],
  onClick: () => void,
  more: Attributes = {},
): HTMLButtonElement {
  const children = typeof label === 'string' ? [label] : label;
  const element = el('button', { type: 'button', class: style, 'data-action': action, ...more }, ...children);
  element.addEventListener('click', onClick);
  return element;
}

const shown = new WeakMap<Element, string>();

/** Does an element show other things than at the last call? Without `things`: forgets them. */
export function differs(element: Element, ...things: unknown[]): boolean {
  const key = JSON.stringify(things);
  if (shown.get(element) === key) return false;
  shown.set(element, key);
  return true;
}

/** An icon of the codicon font, invisible to screen readers. */
export function icon(name: string): HTMLElement {
  return el('span', { class: `codicon codicon-${name}`, 'aria-hidden': 'true' });
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag: string, attributes: Attributes = {}): SVGElement {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  return element;
}

const waiting = new Set<() => void>();

/**
 * Runs a job in the next animation frame, once however often it is requested. What a job requests comes in its own frame, so that all parts of
 * the page show the same moment; a job that requests itself comes again in the next one. `first`: the others draw what it gives them.
 */
export function onFrame(job: () => void, first = false): void {
  if (waiting.size === 0 && !flushing) requestAnimationFrame(flush);
  const others = first ? [...waiting] : [];
  if (first) waiting.clear();
  for (const one of [job, ...others]) waiting.add(one);
}

let flushing = false;

function flush(): void {
  const done = new Set<() => void>();
  flushing = true;
  try {
    for (const job of waiting) {
      if (done.has(job)) continue;
      waiting.delete(job);
      done.add(job);
      job();
    }
  } finally {
    flushing = false;
    if (waiting.size > 0) requestAnimationFrame(flush);
  }
}
