// A row of a notebook's cell opens the cell, in a notebook editor.
import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { hashOf } from '../../extension/editor/cellHash';
import { withoutNumbers } from '../masked.mjs';
import { sentencesOf } from './hostSentences';
import { freshPage, reached, rowAt, trace, workspace } from './pageActions';
import { click, shows, until } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const CELL = `def batch():
    return gpu.empty(8 * gpu.MIB)  # é

kept = batch()`;
const FILE = `/tmp/ipykernel_4711/${hashOf(CELL)}.py`;
const LINE = 2;
// As ipykernel compiles it.
const JOB = `import time
import gpu

exec(compile(${JSON.stringify(CELL)}, "${FILE}", "exec"))
print("ready", flush=True)
time.sleep(300)
`;
const code = (text: string) => ({ cell_type: 'code', source: text, metadata: {}, outputs: [], execution_count: null });

describe('A notebook in VS Code', () => {
  const path = join(workspace, 'training.ipynb');
  const elsewhere = (): Thenable<vscode.TextEditor> =>
    vscode.window.showTextDocument(vscode.Uri.file(join(workspace, 'gpu.py')));

  before(async () => {
    const cells = [{ cell_type: 'markdown', source: CELL, metadata: {} }, code('import gpu'), code(CELL), code('1')];
    writeFileSync(path, JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 4 }));
    writeFileSync(join(workspace, 'cells_job.py'), JOB);
    await freshPage();
    await trace(join(workspace, 'cells_job.py'));
    await reached('running');
    await rowAt(FILE, LINE);
  });
  after(async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('a notebook that is not open is asked for', async () => {
    await elsewhere();
    await click(`[data-row][data-line="${LINE}"]`);
    assertSentence(withoutNumbers(await shows('[data-notice=error]', /notebook/)));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, join(workspace, 'gpu.py'));
  });

  it('a row opens the cell that ran, at its line', async () => {
    await vscode.window.showNotebookDocument(await vscode.workspace.openNotebookDocument(vscode.Uri.file(path)));
    await elsewhere();
    await click(`[data-row][data-line="${LINE}"]`);
    await until('the cell', () => {
      const { activeNotebookEditor: shown, activeTextEditor: editor } = vscode.window;
      const cell = shown?.notebook.uri.fsPath === path && shown.selections[0]?.start === 2;
      return cell && editor?.document.getText() === CELL && editor.selection.active.line === LINE - 1;
    });
  });
});
