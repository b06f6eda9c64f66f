// The walls between folders hold: what the linter's table forbids is reported.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { ESLint, type Linter } from 'eslint';

const root = resolve(__dirname, '../../../..');

/** An existing file a folder, whose text the linter gets replaced by one import. */
const forbidden: [file: string, module: string][] = [
  ['extension/protocol/trace.ts', 'node:fs'],
  ['extension/protocol/trace.ts', '../engine/session'],
  ['extension/engine/session.ts', 'vscode'],
  ['extension/engine/session.ts', '../capture/launch'],
  ['extension/capture/launch/launch.ts', 'vscode'],
  ['extension/capture/launch/launch.ts', '../../engine/session'],
  ['extension/analysis/sites/site.ts', 'node:fs'],
  ['extension/analysis/sites/site.ts', 'vscode'],
  ['extension/exporters/csv.ts', 'vscode'],
  ['extension/exporters/csv.ts', '../analysis/site'],
  ['extension/cli.ts', 'vscode'],
  ['extension/cli.ts', './views/explorer'],
  ['webview/dom.ts', 'vscode'],
  ['webview/dom.ts', 'node:fs'],
  ['webview/dom.ts', '../extension/engine/session'],
  ['webview/dom.ts', '@vscode/webview-ui-toolkit'],
];
const allowed: [file: string, module: string][] = [
  ['extension/engine/session.ts', '../protocol/trace'],
  ['extension/capture/launch/launch.ts', 'node:fs'],
  ['extension/capture/launch/launch.ts', '../processes/processes'],
  ['extension/analysis/sites/site.ts', '../../protocol/trace'],
  ['extension/exporters/csv.ts', '../engine/native'],
  ['extension/cli.ts', './capture/launch'],
  ['extension/views/any.ts', 'vscode'],
  ['webview/dom.ts', '../extension/protocol/trace'],
  ['webview/components.ts', '@vscode/webview-ui-toolkit'],
];

const linter = new ESLint({ cwd: root });
async function refused(file: string, module: string): Promise<boolean> {
  const { rules } = (await linter.calculateConfigForFile(resolve(root, file))) as { rules: Record<string, unknown> };
  const rule = rules['no-restricted-imports'] ?? 'off';
  const only = new ESLint({
    cwd: root,
    overrideConfigFile: true,
    baseConfig: {
      files: ['**/*.js'],
      rules: { 'no-restricted-imports': rule as Linter.RuleEntry },
    },
  });
  const [result] = await only.lintText(`import '${module}';\n`, { filePath: resolve(root, 'any.js') });
  return (result?.messages.length ?? 0) > 0;
}

test('the linter refuses an import through a wall', async () => {
  for (const [file, module] of forbidden) assert.ok(await refused(file, module), `${file} may import ${module}`);
});

test('the linter allows the imports that the design names', async () => {
  for (const [file, module] of allowed) assert.ok(!(await refused(file, module)), `${file} may not import ${module}`);
});
