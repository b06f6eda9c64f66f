import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { interpreterFor } from './chooseLaunch';

const SAMPLE = 'sample_train.py';
const FILES = [SAMPLE, 'gpu.py'];

/**
 * The training script with a leak that comes with the extension, opened in an editor. It stands in a folder of the user's, where it
 * may be changed; what was changed stays. `root`: of the extension. `storage`: a folder that may be written.
 */
export async function planOfSample(root: string, storage: string): Promise<LaunchPlan> {
  const folder = join(storage, 'sample');
  mkdirSync(folder, { recursive: true });
  for (const name of FILES) {
    const file = join(folder, name);
    if (!existsSync(file)) copyFileSync(join(root, 'test/workloads', name), file);
  }
  const file = vscode.Uri.file(join(folder, SAMPLE));
  const command = [await interpreterFor(file), file.fsPath];
  await vscode.window.showTextDocument(file);
  return { title: SAMPLE, command, cwd: folder, environment: {} };
}
