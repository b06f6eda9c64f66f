// What a layout must keep, rule by rule: from the numbers of one cell of the matrix to the sentences that say what is wrong.
const NARROW_PX = 460;
/** Narrower is a side panel, where details replace the table; from the second on they stand beside it. */
const PANEL_PX = 600;
const BESIDE_PX = 1000;
const PLOT_PX = { least: 72, most: 96 };
const LEAST_ROWS = 5;
/** Beside a card that is open. */
const FEW_ROWS = 3;
const ROW_PX = 24;
/** What stands above the plot, between it and the cards, and above the rows; in a low window it is more than half of the page. */
const FRAME_PX = 216;
/** What another tab needs more than the table does with few rows. */
const MAP_PX = 110;
const LEAST_LETTERS = 3;
const MOST_BLANK = 0.08;

const px = value => `${Math.round(value * 10) / 10} px`;

function plotWrong({ width }, { plot }) {
  if (plot === null) return ['there is no plot'];
  const { height, seen } = plot;
  if (seen < PLOT_PX.least)
    return [`${px(seen)} of the plot's ${px(height)} are in sight, at least ${PLOT_PX.least} must be`];
  if (seen < height - 1) return [`the plot is cut: ${px(seen)} of its ${px(height)} are in sight`];
  if (width <= NARROW_PX && height > PLOT_PX.most)
    return [`the plot is ${px(height)} high, at most ${PLOT_PX.most} in a narrow panel`];
  return [];
}

function rowsWrong({ rows, width }, measured) {
  const must = Math.min(measured.head !== null && width < PANEL_PX ? FEW_ROWS : LEAST_ROWS, rows);
  const { whole } = measured.rows;
  return whole >= must ? [] : [`${whole} of ${rows} rows are whole in sight, at least ${must} must be`];
}

function detailsWrong({ width }, { details }) {
  if (details === null) return ['the details are not there'];
  if (!details.firstLine) return ['the first line of the details is out of sight'];
  if (width >= PANEL_PX) return [];
  if (!details.stackFirst) return ['the stack does not come first in the details'];
  return details.frame ? [] : ['the first frame of the stack is out of sight'];
}

function contentWrong(cell, measured) {
  if (!cell.open) return rowsWrong(cell, measured);
  return [...(cell.width < BESIDE_PX ? [] : rowsWrong(cell, measured)), ...detailsWrong(cell, measured)];
}

function headWrong({ height, width, open, tab }, { head }) {
  if (head === null || (open && width < BESIDE_PX)) return [];
  const least = FRAME_PX + PLOT_PX.least + head.height + FEW_ROWS * ROW_PX + (tab ? MAP_PX : 0);
  if (height < least) return [];
  return head.hidden.map(name => `the ${name} of the card that is open is out of sight`);
}

/** What is cut or scrolled; '' where all is in sight. */
function pressed({ rows: all }, { plot, rows, cards }) {
  if (rows.drawn > 0 && rows.whole < all) return `${rows.whole} of ${all} rows are in sight`;
  if (cards.whole < cards.all) return `${cards.whole} of ${cards.all} cards are whole`;
  return plot !== null && plot.seen < plot.height - 1 ? 'the plot is cut' : '';
}

function blankWrong(cell, measured) {
  const { x, y, width, height } = measured.blank;
  const part = (width * height) / (cell.width * cell.height);
  const why = pressed(cell, measured);
  if (why === '' || part <= MOST_BLANK) return [];
  return [`${(100 * part).toFixed(1)} % of the page is blank, ${width}x${height} at ${x}, ${y}, while ${why}`];
}

const cutWrong = (_, { cut }) =>
  cut
    .filter(({ letters }) => letters < LEAST_LETTERS)
    .map(({ text, letters }) => `${letters} letters of "${text}" fit before its dots`);

/** Bytes, counts and times, with what stands around a number. */
const FIGURE = /^[+\u2212-]?[\d.,]+ ?(?:(?:[KMGTP]i)?B|ns|µs|ms|s|min|h|%)?(?:\/s)?$/;

const BYTES = /[\d.,] (?:[KMGTP]i)?B\b/;

const figureWrong = (_, { cut }) =>
  cut.filter(({ text }) => FIGURE.test(text) || BYTES.test(text)).map(({ text }) => `"${text}" is cut`);

const numberWrong = (_, { cut }) =>
  cut.filter(({ number }) => number !== '').map(({ text, number }) => `of "${text}", ${number} is cut`);

const lostWrong = (_, { lost }) => lost.map(({ text, by }) => `"${text}" is cut by ${by}`);

const controlWrong = (_, { cut }) => cut.filter(({ control }) => control).map(({ text }) => `"${text}" is cut`);

const overlapWrong = (_, { overlaps }) =>
  overlaps.map(({ a, b, width, height }) => `"${a}" and "${b}" overlap by ${px(width)} x ${px(height)}`);

const nestedWrong = (_, { nested }) =>
  nested.map(({ inner, outer }) => `${inner} scrolls inside ${outer}, which scrolls too`);

/** What each rule finds wrong in a cell, by the sentence that says the rule. */
export const RULES = {
  'the plot is in sight, 72 px high or more, in a narrow panel 96 at most': plotWrong,
  'five rows or all are in sight, three below an open card; details from their first line, in a side panel the stack first':
    contentWrong,
  'title, figures, fix, link and holder of the card that is open are in sight': headWrong,
  'no more than 8 % of the page is blank while a row, a card or the plot is cut': blankWrong,
  'a text that is cut keeps three letters': cutWrong,
  'a figure is never cut: without its unit it is another one': figureWrong,
  'dots take no line number and no unit from what they leave': numberWrong,
  'no text runs past an edge': lostWrong,
  'a word of a tab or of a selector is never cut': controlWrong,
  'no text lies over another one': overlapWrong,
  'nothing scrolls inside what scrolls': nestedWrong,
};

/** What is wrong with the measurement itself: it must have seen what the host has. */
export function unmeasured(cell, { rows, cards, texts, details }) {
  const wrong = [];
  const replaced = cell.open && cell.width < BESIDE_PX && rows.drawn === 0;
  if (!replaced && rows.all !== cell.rows) wrong.push(`the table has ${rows.all} rows`);
  if (cell.findings === 0 ? cards.all > 0 : cards.all === 0) wrong.push(`there are ${cards.all} cards`);
  if (texts < 12) wrong.push(`there are ${texts} lines of text`);
  if (cell.open !== (details !== null)) wrong.push(`details are ${cell.open ? 'not ' : ''}there`);
  return wrong;
}
