// Makes the files *.gen.ts and *.gen.h from extension/protocol/schema.
//   node test/project/schema/generate.mjs [--check]     (--check: says which of them are not as they would be made)
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { windows } from '../../../extension/protocol/schema/answers.mjs';
import { columns } from '../../../extension/protocol/schema/columns.mjs';
import { enums, OTHER_SORTS } from '../../../extension/protocol/schema/enums.mjs';
import { objects } from '../../../extension/protocol/schema/objects.mjs';
import { questions } from '../../../extension/protocol/schema/questions.mjs';
import { records } from '../../../extension/protocol/schema/records.mjs';
import { inRoot } from '../root.mjs';
import { enumsHeader, objectsHeader, packHeader, rowsHeader } from './cpp.mjs';
import { questionsHeader, readHeader } from './questionTypes.mjs';
import { numbersText, recordsHeader, consumersHeader } from './wire.mjs';
import { sortsOf } from './types.mjs';
import { figuresText, typesText } from './typescript.mjs';

/** Columns of matrices are an enum of C++, whose words are their names. */
const matrices = Object.values(columns).flatMap(({ matrices: name, strip, values }) => {
  const words = Object.keys(values ?? {});
  return name ? [[name, { values: words, names: words.map(word => word.replace(strip, '')) }]] : [];
});
const schema = {
  enums: { ...enums, SiteSort: { list: 'SITE_SORTS', values: sortsOf(windows.Site, OTHER_SORTS) } },
  windows,
  columns,
  objects,
  questions,
};
const cpp = { ...schema, enums: { ...schema.enums, ...Object.fromEntries(matrices) } };

const files = {
  'extension/protocol/answers.gen.ts': typesText(schema),
  'webview/explorer/common/figures.gen.ts': figuresText(windows.Site),
  'native/model/state/enums.gen.h': enumsHeader(cpp),
  'native/model/query/rows.gen.h': rowsHeader(cpp),
  'native/model/query/questions.gen.h': questionsHeader(schema),
  'native/addon/questions/read.gen.h': readHeader(schema),
  'native/addon/answers/objects.gen.h': objectsHeader(cpp),
  'native/addon/answers/pack.gen.h': packHeader(cpp),
  'native/wire/records.gen.h': recordsHeader(records),
  'native/trace/log/consumers.gen.h': consumersHeader(records),
  'test/unit/addon/locals.gen.ts': numbersText(records),
};

const stale = Object.entries(files).filter(([name, text]) => {
  const file = inRoot(name);
  return !existsSync(file) || readFileSync(file, 'utf8') !== text;
});
if (process.argv.includes('--check')) {
  for (const [name] of stale)
    console.error(`${name} is not what extension/protocol/schema says: npm run schema makes it.`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [name, text] of stale) writeFileSync(inRoot(name), text);
}
