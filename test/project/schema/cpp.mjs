// C++ of the schema: enums with their words, rows, and what packs rows into columns for JavaScript.
import { fieldsOf, pascal, snake } from './types.mjs';

export const sourceHeader = (what, includes) => `#pragma once
// ${what} Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
${includes.map(name => `#include ${name}\n`).join('')}
`;

function enumText([name, { values, names = values }]) {
  return `enum class ${name} : uint8_t { ${names.map(pascal).join(', ')} };
template <>
struct Words<${name}> {
  static constexpr std::array<const char *, ${values.length}> kAll = {${values.map(value => `"${value}"`).join(', ')}};
};
`;
}

export function enumsHeader({ enums }) {
  return `${sourceHeader('Choices that answers and questions carry as words.', ['<array>', '<cstddef>', '<cstdint>'])}namespace gmt::model {

/// The words of an enum, in its order.
template <typename Enum>
struct Words;
template <typename Enum>
constexpr const char *word_of(Enum value) {
  return Words<Enum>::kAll[static_cast<size_t>(value)];
}

${Object.entries(enums).map(enumText).join('')}
}  // namespace gmt::model
`;
}

const start = ({ init }) => ` = ${init ?? '{}'}`;
const memberText = field =>
  `${field.doc ? `  /// ${field.doc}\n` : ''}  ${field.cpp} ${field.member}${field.each ? `[${field.each}]` : ''}${start(field)};\n`;

/** A row and its window. What is a figure is in a struct of its own, which sums are made in. */
function rowText([name, { doc, rows, head, figures, fields }]) {
  const all = fieldsOf(fields).filter(field => !field.from);
  const isFigure = field => figures && (field.sort || field.part);
  const sorted = all.filter(field => field.sort);
  const sort = sorted.map(
    ({ name: one, member }) =>
      `    case ${name}Sort::${pascal(one)}:\n      return static_cast<double>(of.${member});\n`,
  );
  const base = figures
    ? `struct ${figures} {
${all.filter(isFigure).map(memberText).join('')}};
/// By what rows are sorted; 0 where it is no figure.
inline double figure(const ${figures} &of, ${name}Sort sort) {
  switch (sort) {
${sort.join('')}    default:
      return 0;
  }
}
`
    : '';
  const inherits = figures ? ` : ${figures}` : '';
  return `${base}/// ${doc}
struct ${name}Row${inherits} {
${all
  .filter(field => !isFigure(field))
  .map(memberText)
  .join('')}};
struct ${rows} {
  uint64_t revision = 0;
  size_t total = 0;
${fieldsOf(head).map(memberText).join('')}  std::vector<${name}Row> rows;
};
`;
}

const inModel = ({ row, made }) => made && row.startsWith('model::');

/** `checkpoint`: all of it is kept; the number of a site is that of one that is kept. */
function structText({ row, fields, checkpoint }) {
  const own = fieldsOf(fields).filter(field => !field.from);
  const kept = own.filter(({ member }) => member !== 'site').map(({ member }) => member);
  const keep = checkpoint
    ? `  void checkpoint(Archive &a) {\n    a(${kept.join(', ')});\n    gmt::model::row(a, kSiteRows, site);\n  }\n`
    : '';
  return `struct ${row.replace('model::', '')} {\n${own.map(memberText).join('')}${keep}};\n`;
}

export function rowsHeader({ windows, columns, objects }) {
  const includes = ['<cstddef>', '<cstdint>', '<string>', '<vector>', '"model/state/types.h"'];
  const structs = [...Object.values(columns), ...Object.values(objects)].filter(inModel).map(structText);
  return `${sourceHeader('Rows of answers.', includes)}namespace gmt::model {

${[...Object.entries(windows).map(rowText), ...structs].join('\n')}
}  // namespace gmt::model
`;
}

/** The value of a field of `row`. */
function value(field) {
  const own = field.from ?? `row.${field.member}`;
  return field.known ? `${field.known} ? static_cast<double>(${own}) : kNotKnown` : own;
}

function put(field) {
  const { name, element, each, known, isEnum, type } = field;
  const set = text => `  object.Set("${name}", ${text});\n`;
  if (each)
    return set(
      `columns<${each}>(env, rows, [](const auto &row) { return ${known ? `${known} ? row.${field.member} : nullptr` : `row.${field.member}`}; })`,
    );
  const read = `[](const auto &row)${type === 'text' && !field.from ? ' -> const auto &' : ''} { return ${value(field)}; }`;
  if (element) return set(`column<${element}>(env, rows, ${read})`);
  if (isEnum) return set(`words<model::${type}>(env, rows, ${read})`);
  return set(`${type === 'key' ? 'keys' : 'texts'}(env, rows, ${read})`);
}

function windowText([, { rows, head, fields }]) {
  const sums = fieldsOf(head).map(
    field => `  object.Set("${field.name}", static_cast<double>(answer.${field.member}));\n`,
  );
  return `inline Napi::Object pack(Napi::Env env, const model::${rows} &answer) {
  const auto &rows = answer.rows;
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(answer.revision));
  object.Set("total", static_cast<double>(answer.total));
  object.Set("rows", static_cast<double>(rows.size()));
${sums.join('')}${fieldsOf(fields)
    .filter(field => !field.inside)
    .map(put)
    .join('')}  return object;
}
`;
}

/** What JavaScript gets of a field of an object. */
function objectValue(field, objects) {
  const { type, from, member, known, isEnum, own } = field;
  const value = from ?? `row.${member}`;
  const kinds = [
    [type === 'text[]', `texts(env, ${value}, [](const auto &one) -> const auto & { return one; })`],
    [type.endsWith('[]'), `objects(env, ${value}, [&](const auto &one) { return pack(env, one); })`],
    [Object.hasOwn(objects, type), `pack(env, ${value})`],
    [type === 'bool', `Napi::Boolean::New(env, ${value})`],
    [type === 'bits', `Napi::BigInt::New(env, ${value})`],
    [type === 'key', `key_text(${value})`],
    [isEnum, `model::word_of(${value})`],
    [(own && type !== 'text') || type === 'number', `Napi::Number::New(env, static_cast<double>(${value}))`],
    [known, `Napi::String::New(env, ${value})`],
    [true, value],
  ];
  const [, made] = kinds.find(([fits]) => fits);
  return known ? `${known} ? Napi::Value(${made}) : env.Null()` : made;
}

const objectText =
  objects =>
  ([, { row, base, fields }]) =>
    `inline Napi::Object pack(Napi::Env env, const ${row} &row) {
  auto object = ${base ? `pack(env, static_cast<const ${objects[base].row} &>(row))` : 'Napi::Object::New(env)'};
${fieldsOf(fields)
  .filter(field => !field.byHand && !field.inside)
  .map(field => `  object.Set("${field.name}", ${objectValue(field, objects)});\n`)
  .join('')}  return object;
}
`;

const numbers = rows => `[](const auto &one) { return ${rows}; }`;

/** Sets the columns of rows; and makes the whole answer, with what it has besides. */
const columnsText =
  ({ columns, objects }) =>
  ([name, { row, answer, part, list, base, head, fields, matrices }]) => {
    const all = fieldsOf(fields);
    const sets = row
      ? `/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<${row}> &rows) {
${all
  .filter(field => !field.of)
  .map(put)
  .join('')}}
`
      : '';
    const value = field =>
      Object.hasOwn(columns, field.type) ? `pack${snake(field.type)}(env, row)` : objectValue(field, objects);
    const beside = all.filter(field => field.of);
    return `${sets}inline Napi::Object pack${part ? snake(name) : ''}(Napi::Env env, const ${answer} &row) {
  auto object = ${base ? 'pack(env, row.axis)' : 'Napi::Object::New(env)'};
${fieldsOf(head)
  .map(field => `  object.Set("${field.name}", ${value(field)});\n`)
  .join('')}${beside
      .map(
        field =>
          `  object.Set("${field.name}", column<${field.element}>(env, row.${field.of}, ${numbers(field.from)}));\n`,
      )
      .join(
        '',
      )}${list ? `  put_columns(env, object, ${list});\n` : ''}${matrices ? `  put_matrices<model::${matrices}>(env, object, row.columns);\n` : ''}  return object;
}
`;
  };

export function objectsHeader({ objects }) {
  const made = Object.entries(objects).filter(([, object]) => object.made && !inModel(object));
  const text = ([, { row, fields }]) => {
    const own = fieldsOf(fields).filter(field => !field.from);
    const members = own.map(field => ({ ...field, cpp: field.isEnum ? `model::${field.cpp}` : field.cpp }));
    return `struct ${row} {\n${members.map(memberText).join('')}};\n`;
  };
  return `${sourceHeader('What objects of answers are made from.', ['<cstdint>', '"model/state/types.h"'])}namespace gmt::addon {

${made.map(text).join('\n')}
}  // namespace gmt::addon
`;
}

export function packHeader({ windows, columns, objects }) {
  return `${sourceHeader('Answers as the objects that JavaScript gets.', ['"addon/answers/answers.h"', '"addon/answers/columns.h"'])}namespace gmt::addon {

${[...Object.entries(windows).map(windowText), ...Object.entries(objects).map(objectText(objects)), ...Object.entries(columns).map(columnsText({ columns, objects }))].join('\n')}
}  // namespace gmt::addon
`;
}
