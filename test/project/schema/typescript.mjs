// TypeScript of the schema: unions and lists of words, rows, windows, what reads a row of a window and makes a window of rows.
import { questionTypes } from './questionTypes.mjs';
import { fieldsOf, upper } from './types.mjs';

const HEAD = '// Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.\n';

const comment = (doc, indent = '') => (doc ? `${indent}/** ${doc} */\n` : '');
const member = ({ name, doc }, type) => `${comment(doc, '  ')}  ${name}: ${type};\n`;
const shown = fields => fieldsOf(fields).filter(field => !field.inside);
const columnType = ({ array, row }) => array ?? `${row}[]`;
const rowType = ({ each, array, row, index }) => (each ? array : index ? 'number' : row);

function enumText([name, { list, doc, values }]) {
  const words = values.map(value => `'${value}'`).join(', ');
  return `export const ${list} = [${words}] as const;\n${comment(doc)}export type ${name} = (typeof ${list})[number];\n`;
}

function firstValue(field, enums) {
  const { row, array, each, isEnum, type, init } = field;
  if (each) return `new ${array}(${each})`;
  if (isEnum) return `'${enums[type].values[0]}'`;
  return (
    { number: typeof init === 'string' ? 'NaN' : (init ?? 0), bigint: '0n', string: "''", boolean: 'false' }[row] ??
    'null'
  );
}

const read = ({ name, each }) =>
  each ? `window.${name}.subarray(${each} * i, ${each} * i + ${each})` : `window.${name}[i]!`;
function made({ name, array, each, row }) {
  if (each) return `${array}.from(all.flatMap(row => [...row.${name}]))`;
  return array ? `${array}.from(all, row => row.${name})` : row && `all.map(row => row.${name})`;
}

function windowText([name, { doc, window, head, fields }], enums) {
  const [columns, sums] = [shown(fields), fieldsOf(head)];
  const lower = name[0].toLowerCase() + name.slice(1);
  const lines = (list, text) => list.map(field => `    ${field.name}: ${text(field)},\n`).join('');
  return `${comment(doc)}export interface ${name}Row {
${columns.map(field => member(field, rowType(field))).join('')}}
${comment(window)}export interface ${name}Window {
  revision: number;
  total: number;
  rows: number;
${sums.map(field => member(field, 'number')).join('')}${columns.map(field => member(field, columnType(field))).join('')}}
/** Row \`i\` of a window, which has it. */
export function ${lower}Row(window: ${name}Window, i: number): ${name}Row {
  return {
${lines(columns, read)}  };
}
/** All rows of a window. */
export const ${lower}Rows = (window: ${name}Window): ${name}Row[] =>
  Array.from({ length: window.rows }, (_, i) => ${lower}Row(window, i));
export const NO_${upper(name)}_ROW: ${name}Row = {
${lines(columns, field => firstValue(field, enums))}};
/** A window of these rows; of each, what is not named is nothing. */
export function ${lower}Window(rows: readonly Partial<${name}Row>[], head: Partial<${name}Window> = {}): ${name}Window {
  const all = rows.map((row): ${name}Row => ({ ...NO_${upper(name)}_ROW, ...row }));
  return {
    revision: 1,
    total: all.length,
    rows: all.length,
${lines(sums, () => '0')}${lines(columns, made)}    ...head,
  };
}
`;
}

function columnsText([name, { doc, base, head, fields, values = {} }]) {
  const matrices = Object.entries(values).map(([value, text]) => member({ name: value, doc: text }, 'Float64Array'));
  return `${comment(doc)}export interface ${name} ${base ? `extends ${base} ` : ''}{
${fieldsOf(head)
  .map(field => member(field, field.row.replace('text[]', 'string[]')))
  .join('')}${shown(fields)
    .map(field => member(field, columnType(field)))
    .join('')}${matrices.join('')}}
`;
}

function objectText([name, { doc, base, fields }]) {
  const type = ({ row, ts = row === 'text[]' ? 'string[]' : row, known }) => (known ? `${ts} | null` : ts);
  return `${comment(doc)}export interface ${name} ${base ? `extends ${base} ` : ''}{
${shown(fields)
  .map(field => member(field, type(field)))
  .join('')}}
`;
}

export function typesText(schema) {
  const { enums, windows, columns, objects } = schema;
  return [
    HEAD,
    ...Object.entries(enums).map(enumText),
    ...Object.entries(windows).map(entry => windowText(entry, enums)),
    ...Object.entries(columns).map(columnsText),
    ...Object.entries(objects).map(objectText),
    questionTypes(schema),
  ].join('\n');
}

/** The plain columns of the table, with their texts where a translator finds them. */
export function figuresText({ fields }) {
  const columns = shown(fields).filter(({ column }) => column);
  const entries = columns.map(({ name, doc, sort, column: { id, title, choice = title, px = [84, 76] } }) => {
    const texts = { title, hint: doc.split('.')[0], choice };
    const translated = Object.entries(texts).map(([key, text]) => `${key}: t('${text}')`);
    const format = name.endsWith('Bytes') ? 'formatBytes' : 'formatCount';
    const rest = `sort: ${sort ? `'${name}'` : 'null'}, widths: [${px.join(', ')}], format: ${format}`;
    return `  { id: '${id}', field: '${name}', ${translated.join(', ')}, ${rest} },\n`;
  });
  return `${HEAD}import { t } from '@vscode/l10n';
import type { SiteSort } from '../../../extension/protocol/answers.gen';
import { formatBytes, formatCount } from '../../../extension/text/format';

export type FigureId = ${columns.map(({ column }) => `'${column.id}'`).join(' | ')};
/** A column that shows one number of a row. */
export interface Figure {
  id: FigureId;
  /** Of a row. */
  field: ${columns.map(({ name }) => `'${name}'`).join(' | ')};
  title: string;
  hint: string;
  choice: string;
  sort: SiteSort | null;
  widths: readonly [wide: number, narrow: number];
  format(value: number): string;
}
export const FIGURES: readonly Figure[] = [
${entries.join('')}];
`;
}
