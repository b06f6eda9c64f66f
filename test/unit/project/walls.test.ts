// The walls between rooms hold: an import that the table forbids is reported, one that it allows is not.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ICruiseResult, IConfiguration } from 'dependency-cruiser';

type Import = [file: string, module: string];
const forbidden: Import[] = [
  ['extension/protocol/trace.ts', 'node:fs'],
  ['extension/protocol/trace.ts', '../native/traceSession'],
  ['extension/protocol/trace.ts', '../text/format'],
  ['extension/native/traceSession.ts', 'vscode'],
  ['extension/native/traceSession.ts', '../capture/launch'],
  ['extension/capture/launch/launch.ts', 'vscode'],
  ['extension/capture/launch/launch.ts', '../../native/traceSession'],
  ['extension/capture/processes/processes.ts', '../launch/launch'],
  ['extension/analysis/sites/site.ts', 'node:fs'],
  ['extension/analysis/sites/site.ts', 'vscode'],
  ['extension/analysis/sites/site.ts', '../findings/judgeTrace'],
  ['extension/exporters/csv.ts', 'vscode'],
  ['extension/exporters/csv.ts', '../analysis/site'],
  ['extension/cli.ts', 'vscode'],
  ['extension/cli.ts', './views/explorer'],
  ['extension/cli/arguments/optionReader.ts', '../report/report'],
  ['extension/views/session/session.ts', '../page/page'],
  ['extension/views/page/page.ts', '../commands/commands'],
  ['extension/engine/traceEngine.ts', 'vscode'],
  ['extension/engine/traceEngine.ts', '../cli/report/report'],
  ['extension/engine/answers/traceAnswers.ts', '../../views/commands/commands'],
  ['extension/views/session/openTrace.ts', '../../native/addon'],
  ['extension/views/page/page.ts', '../../engine/traceEngine'],
  ['extension/editor/lineBytes.ts', '../native/traceSession'],
  ['extension/client/engineProcess.ts', '../native/addon'],
  ['webview/dom.ts', 'vscode'],
  ['webview/dom.ts', 'node:fs'],
  ['webview/dom.ts', '../extension/native/traceSession'],
  ['webview/dom.ts', '@vscode/webview-ui-toolkit'],
  ['webview/explorer/common/hues.ts', '../state/state'],
  ['webview/explorer/flame/flameView.ts', '../timeline/timelineView'],
  ['webview/explorer/table/tableView.ts', '../shell/app'],
];
const allowed: Import[] = [
  ['extension/native/traceSession.ts', '../protocol/trace'],
  ['extension/capture/launch/launch.ts', 'node:fs'],
  ['extension/capture/launch/launch.ts', '../processes/processes'],
  ['extension/analysis/sites/site.ts', '../../protocol/trace'],
  ['extension/analysis/sites/site.ts', '../series/statistics'],
  ['extension/exporters/csv.ts', '../native/native'],
  ['extension/exporters/parquet/parquetFile.ts', 'hyparquet-writer'],
  ['extension/cli.ts', './capture/launch'],
  ['extension/engine/traceEngine.ts', '../native/addon'],
  ['extension/engine/traceEngine.ts', '../jobs/readJob'],
  ['extension/views/session/session.ts', '../../client/engineProcess'],
  ['extension/views/any.ts', 'vscode'],
  ['extension/views/commands/commands.ts', '../page/explorer'],
  ['webview/dom.ts', '../extension/protocol/trace'],
  ['webview/components.ts', '@vscode/webview-ui-toolkit'],
  ['webview/explorer/table/tableView.ts', '../state/state'],
  ['webview/explorer/shell/app.ts', '../table/tableView'],
];
const circle: Import[] = [
  ['extension/analysis/series/growth.ts', './statistics'],
  ['extension/analysis/series/statistics.ts', './growth'],
];

const folder = mkdtempSync(join(tmpdir(), 'gmt-walls-'));
let violations: ICruiseResult['summary']['violations'] = [];

/** A tree of files that hold these imports and nothing else, judged by the repository's own rules. */
before(async () => {
  for (const [file, module] of [...forbidden, ...allowed, ...circle]) {
    write(file, `import type * as ${`m${module.replaceAll(/\W/g, '_')}`} from '${module}';\n`);
    if (module.startsWith('.')) write(`${join(dirname(file), module)}.ts`, '');
  }
  const rules = pathToFileURL(resolve(__dirname, '../../../../.dependency-cruiser.mjs')).href;
  const { default: config } = (await import(rules)) as { default: IConfiguration };
  const { cruise } = await import('dependency-cruiser');
  const options = { ...config.options, ruleSet: { forbidden: config.forbidden ?? [] }, validate: true };
  const { output } = await cruise(['extension', 'webview'], { ...options, baseDir: folder });
  if (typeof output === 'string') throw new Error(output);
  violations = output.summary.violations;
});

after(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  appendFileSync(join(folder, file), text);
}

function refused([file, module]: Import): boolean {
  const to = module.startsWith('.') ? `${join(dirname(file), module)}.ts` : module.replace(/^node:/, '');
  return violations.some(({ from, to: target, rule }) => from === file && target === to && rule.name !== 'no-circular');
}

test('an import through a wall is refused', () => {
  for (const one of forbidden) assert.ok(refused(one), `${one[0]} may import ${one[1]}`);
});

test('the imports that the design names are allowed', () => {
  for (const one of allowed) assert.ok(!refused(one), `${one[0]} may not import ${one[1]}`);
});

test('a circle is refused, of types alone as well', () => {
  const names = violations
    .filter(({ from }) => from.startsWith('extension/analysis/series/'))
    .map(({ rule }) => rule.name);
  assert.deepEqual(new Set(names), new Set(['no-circular']));
});
