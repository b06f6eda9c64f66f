import * as vscode from 'vscode';
import { cellNumbers } from '../protocol/notebookCells';
import { hashOf } from './cellHash';

/** ipykernel names a cell's file by a hash of its text, older IPython by the number of its run. */
const BY_TEXT = /\/ipykernel_\d+\/(\d+)\.py$/;
const BY_NUMBER = /^<ipython-input-(\d+)-\w+>$/;

/** Whether the file stands for a cell of a notebook. */
export function isCell(file: string): boolean {
  return BY_TEXT.test(file) || BY_NUMBER.test(file) || cellNumbers(file).length > 0;
}

/** The cell in an open notebook: the one with that text, else the one that ran last under a number of the file's; null: none is open. */
export function findCell(file: string): vscode.NotebookCell | null {
  const all = vscode.workspace.notebookDocuments.flatMap(notebook => notebook.getCells());
  const cells = all.filter(({ kind }) => kind === vscode.NotebookCellKind.Code);
  const [hash, number] = [BY_TEXT.exec(file)?.[1], BY_NUMBER.exec(file)?.[1]];
  const numbers = number === undefined ? cellNumbers(file) : [Number(number)];
  const ran = ({ executionSummary }: vscode.NotebookCell): boolean =>
    numbers.includes(executionSummary?.executionOrder ?? NaN);
  const same = cells.filter(cell => hash === String(hashOf(cell.document.getText().replace(/\r\n/g, '\n'))));
  return same.find(ran) ?? same[0] ?? cells.find(ran) ?? null;
}
