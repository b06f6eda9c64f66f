// The C of the log's side records, and the table by which a reader hands them on.
const HEAD = 'Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.';
const C = { u8: 'uint8_t', u16: 'uint16_t', u32: 'uint32_t', i32: 'int32_t', u64: 'uint64_t' };
const SIZES = { u8: 1, u16: 2, u32: 4, i32: 4, u64: 8 };

const list = records =>
  Object.entries(records).map(([name, [about, doc, fields]]) => ({
    name,
    doc,
    struct: `gmt_${name.toLowerCase()}`,
    ...about,
    fields: Object.entries(fields).map(([field, text]) => ({
      field,
      type: text.split(' ')[0],
      note: text.split(' ').slice(1).join(' '),
    })),
  }));

function structText({ struct, doc, behind, bytes, fields }) {
  if (fields.length === 0) return '';
  const members = fields.map(({ field, type, note }) => `  ${C[type]} ${field};${note ? `  ///< ${note}` : ''}\n`);
  const about = [doc, behind ? `Behind it: ${behind}.` : ''].filter(Boolean).join(' ');
  return `${about ? `/// ${about}\n` : ''}struct ${struct} {
${members.join('')}};
GMT_STATIC_ASSERT(sizeof(struct ${struct}) == ${bytes}, "${struct}");
`;
}

export function recordsHeader(records) {
  const all = list(records);
  const kinds = all.map(
    ({ name, number, doc, fields, struct }) =>
      `  GMT_${name} = ${number},  ///< ${fields.length > 0 ? `struct ${struct}` : doc}\n`,
  );
  return `#pragma once
// Side records of a log; layout.h includes it. ${HEAD}

enum gmt_side_record_kind {
${kinds.join('')}};

${all.map(structText).filter(Boolean).join('\n')}`;
}

/** Where a field begins in the struct; -1: it has none of that name and type. Fields lie as C lays them. */
function placeOf(fields, name, as) {
  let at = 0;
  for (const { field, type } of fields) {
    at = Math.ceil(at / SIZES[type]) * SIZES[type];
    if (field === name && type === as) return at;
    at += SIZES[type];
  }
  return -1;
}

export function consumersHeader(records) {
  const all = list(records);
  const most = Math.max(...all.map(({ number }) => number));
  const rows = Array.from({ length: most + 1 }, (_, number) => {
    const one = all.find(record => record.number === number);
    if (!one) return '    {Consumer::None, 0, -1, -1},\n';
    const consumer = one.takes[0].toUpperCase() + one.takes.slice(1);
    return `    {Consumer::${consumer}, ${one.bytes}, ${placeOf(one.fields, 'sequence', 'u64')}, ${placeOf(one.fields, 'device', 'u32')}},  // ${one.name}\n`;
  });
  return `#pragma once
// Which part consumes which side record. ${HEAD}
#include <cstdint>
#include <iterator>

namespace gmt::trace {

enum class Consumer : uint8_t { None, Merge, Tables, Model };
struct RecordRow {
  Consumer consumer;
  uint16_t bytes;    ///< of its struct
  int16_t sequence;  ///< where its field of that name begins, -1 = none
  int16_t device;    ///< likewise, of 32 bits
};
/// By enum gmt_side_record_kind.
constexpr RecordRow kRecords[] = {
${rows.join('')}};
constexpr RecordRow record_row(uint8_t kind) {
  return kind < std::size(kRecords) ? kRecords[kind] : RecordRow{Consumer::None, 0, -1, -1};
}

}  // namespace gmt::trace
`;
}

const camel = name => name.toLowerCase().replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** For tests that write logs. */
export function numbersText(records) {
  const rows = list(records).map(({ name, number }) => `  ${camel(name)}: ${number},\n`);
  return `// ${HEAD}\n/** Kinds of side records. */\nexport const locals = {\n${rows.join('')}};\n`;
}
