// Makes the files *.gen.ts and *.gen.h from extension/protocol/schema.
//   node test/project/schema/generate.mjs [--check]     (--check: says which of them are not as they would be made)
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { objects, windows } from '../../../extension/protocol/schema/answers.mjs';
import { enums, OTHER_SORTS } from '../../../extension/protocol/schema/enums.mjs';
import { inRoot } from '../root.mjs';
import { enumsHeader, packHeader, rowsHeader } from './cpp.mjs';
import { sortsOf } from './types.mjs';
import { figuresText, typesText } from './typescript.mjs';

const sorts = { SiteSort: { list: 'SITE_SORTS', values: sortsOf(windows.Site, OTHER_SORTS) } };
const schema = { enums: { ...enums, ...sorts }, windows, objects };

const files = {
  'extension/protocol/answers.gen.ts': typesText(schema),
  'webview/explorer/table/figures.gen.ts': figuresText(windows.Site),
  'native/model/state/enums.gen.h': enumsHeader(schema),
  'native/model/query/rows.gen.h': rowsHeader(schema),
  'native/addon/pack.gen.h': packHeader(schema),
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
