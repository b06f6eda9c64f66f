// Questions of the schema: types of TypeScript, structs of C++ and what reads them from JavaScript.
import { sourceHeader } from './cpp.mjs';
import { snake } from './types.mjs';

/** In TypeScript; in C++, and there where it may be absent; what reads it. */
const TYPES = {
  bool: ['boolean', 'bool', 'bool', 'flag'],
  text: ['string', 'std::string', 'std::string', 'text'],
  all: ['number', 'int32_t', 'int32_t', 'choice', 'kAll'],
  one: ['number', 'int32_t', 'std::optional<int32_t>', 'choice'],
  u32: ['number', 'uint32_t', '', 'index'],
  i32: ['number', 'int32_t', '', 'choice'],
  size: ['number', 'size_t', 'size_t', 'whole'],
  points: ['number', 'size_t', '', 'points'],
  'u32[]': ['number[]', '', 'std::optional<std::vector<uint32_t>>', 'list'],
  'bits[]': ['bigint[]', 'std::vector<uint64_t>', '', 'addresses'],
};

function fieldOf([name, spec], known) {
  const [text, options = {}] = Array.isArray(spec) ? spec : [spec];
  const [word, ...doc] = text.split(' ');
  const absent = word.endsWith('?');
  const type = word.replace('?', '');
  const isEnum = Object.hasOwn(known, type);
  const [ts, always, some, read, first = '{}'] = isEnum
    ? [type, type, `std::optional<${type}>`, 'word']
    : (TYPES[type] ?? []);
  const [cpp, init, member] = [absent ? some : always, first, snake(name)];
  return { name, doc: doc.join(' '), absent, type, isEnum, ts, cpp, read, init, member, ...options };
}
const fieldsOf = (fields, known) => Object.entries(fields).map(entry => fieldOf(entry, known));

/** Interfaces of TypeScript. */
export function questionTypes({ questions, enums: known }) {
  const member = ({ name, absent, ts, doc }) =>
    `${doc ? `  /** ${doc} */\n` : ''}  ${name}${absent ? '?' : ''}: ${ts};\n`;
  const text = ([name, fields]) => {
    const shown = fieldsOf(fields, known).filter(({ inside }) => !inside);
    return `export interface ${name} {\n${shown.map(member).join('')}}\n`;
  };
  return Object.entries(questions).map(text).join('\n');
}

/** Structs of the model. */
export function questionsHeader({ questions, enums: known }) {
  const member = ({ cpp, member: name, doc, init }) => `${doc ? `  /// ${doc}\n` : ''}  ${cpp} ${name} = ${init};\n`;
  const text = ([name, fields]) => {
    const own = fieldsOf(fields, known).filter(({ member: place }) => !place.includes('.'));
    return `struct ${name} {\n${own.map(member).join('')}};\n`;
  };
  const includes = ['<cstddef>', '<cstdint>', '<optional>', '<string>', '<vector>', '"model/state/types.h"'];
  return `${sourceHeader('Questions of the model.', includes)}namespace gmt::model {

${Object.entries(questions).map(text).join('\n')}
}  // namespace gmt::model
`;
}

/** One statement that reads a field. */
function statement({ name, member, type, isEnum, absent, read }) {
  const place = `query.${member}`;
  if (isEnum && (absent || read === 'word_if')) return `fields.word_if<model::${type}>("${name}", ${place});`;
  if (isEnum) return `${place} = fields.word<model::${type}>("${name}");`;
  if (type === 'all' || type === 'i32') return `${place} = fields.choice("${name}").value_or(-1);`;
  return `${place} = fields.${read}("${name}"${type === 'size' && absent ? `, ${place}` : ''});`;
}

/** What reads them from JavaScript. */
export function readHeader({ questions, enums: known }) {
  const text = ([name, fields]) => {
    const shown = fieldsOf(fields, known).filter(({ inside }) => !inside);
    return `inline void read(Fields &fields, model::${name} &query) {
${shown.map(field => `  ${statement(field)}\n`).join('')}}
`;
  };
  const includes = ['"addon/questions/query_fields.h"', '"model/query/questions.gen.h"'];
  return `${sourceHeader('Questions as JavaScript puts them.', includes)}namespace gmt::addon {

${Object.entries(questions).map(text).join('\n')}
}  // namespace gmt::addon
`;
}
