import { Buffer } from 'node:buffer';
import * as vscode from 'vscode';
import { cellNumbers } from '../protocol/cells';

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

/** MurmurHash2 as ipykernel/compiler.py has it. */
export function hashOf(text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  const whole = bytes.length & ~3;
  const mixed = (value: number): number => Math.imul(value, 0x5bd1e995);
  let hash = 0xc70f6907 ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    const part = mixed(bytes.readInt32LE(at));
    hash = mixed(hash) ^ mixed(part ^ (part >>> 24));
  }
  const rest = bytes.subarray(whole);
  if (rest.length > 0) hash = mixed(hash ^ rest.reduceRight((value, byte) => (value << 8) | byte, 0));
  hash = mixed(hash ^ (hash >>> 13));
  return (hash ^ (hash >>> 15)) >>> 0;
}
