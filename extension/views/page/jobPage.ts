import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { isJobFolder } from '../../capture/traces/jobFolder';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { openLine } from '../../editor/openLine';
import type { Engine } from '../../protocol/requests/engineRequests';
import { jobMessage, type ToJobPage } from '../../protocol/requests/jobMessages';
import type { JobView } from '../../protocol/job';
import { Refused } from '../session/refused';
import { fillPage } from './fill';

/** Ranks write each minute; a viewer shall not wait for long. */
const READ_MS = 10_000;

/** Lets the user choose the folder of a job. Undefined: the user went away. */
export async function pickJob(): Promise<vscode.Uri | undefined> {
  const title = vscode.l10n.t('Open a job folder');
  return (await vscode.window.showOpenDialog({ title, canSelectFolders: true, canSelectFiles: false }))?.[0];
}

/** The folder of a job. Throws `Refused` where it is none. */
export function jobFolder({ fsPath }: vscode.Uri): string {
  if (isJobFolder(fsPath)) return fsPath;
  throw new Refused(vscode.l10n.t('{0} is not a job folder. It contains neither run=… folders nor traces.', fsPath));
}

/** A job of many ranks as a page: ranks × steps, and what differs between ranks. It follows a job that runs. */
export class JobPage {
  private readonly panel: vscode.WebviewPanel;
  private timer: NodeJS.Timeout | undefined;
  private job: JobView | null = null;
  private run: string | undefined;
  private reading = false;
  private disposed = false;

  constructor(
    private readonly folder: string,
    private readonly engine: Engine,
    media: vscode.Uri,
  ) {
    const title = vscode.l10n.t('Job {0}', basename(folder));
    this.panel = vscode.window.createWebviewPanel('gpuMemoryTrace.job', title, vscode.ViewColumn.Active);
    this.panel.onDidDispose(() => {
      this.disposed = true;
      clearInterval(this.timer);
      engine.request('closeJob', { folder }).catch(() => undefined);
    });
    this.panel.webview.onDidReceiveMessage(message => void this.receive(message));
    fillPage(this.panel.webview, media, 'job', title);
  }

  private async receive(value: unknown): Promise<void> {
    const message = jobMessage(value);
    if (message === null) return;
    if (message.type === 'openLine') return this.openLine(message.file, message.line);
    if (message.type === 'openRank') return this.openRank(message.key);
    if (message.type === 'showRun') this.run = message.run;
    await this.read();
    clearInterval(this.timer);
    if (!this.disposed && this.job?.ranks.some(({ live }) => live))
      this.timer = setInterval(() => void this.read(), READ_MS);
  }

  private async read(): Promise<void> {
    if (this.disposed || this.reading || (!this.panel.visible && this.job !== null)) return;
    this.reading = true;
    const { run } = this;
    try {
      const job = await this.engine.request('readJob', { folder: this.folder, run });
      if ('error' in job) this.post({ type: 'problem', sentence: job.error });
      else this.post({ type: 'job', job: (this.job = job) });
    } catch (error) {
      this.post({
        type: 'problem',
        sentence: vscode.l10n.t('{0} could not be read: {1}', this.folder, reasonOf(error)),
      });
    } finally {
      this.reading = false;
    }
    if (run !== this.run) await this.read(); // another one was chosen meanwhile
  }

  /** In the views that show one trace. */
  private async openRank(key: string): Promise<void> {
    const rank = this.job?.ranks.find(one => one.key === key);
    if (rank?.trace) {
      const file = vscode.Uri.file(join(this.folder, rank.trace));
      await vscode.commands.executeCommand('gpuMemoryTrace.openTrace', file);
    } else if (rank !== undefined)
      void vscode.window.showInformationMessage(
        vscode.l10n.t('The folder has no trace for rank {0}, only its tables.', rank.rank),
      );
  }

  private async openLine(file: string, line: number): Promise<void> {
    try {
      await openLine(file, line, { cwd: this.folder, beside: null });
    } catch (error) {
      void vscode.window.showWarningMessage(reasonOf(error));
    }
  }

  private post(message: ToJobPage): void {
    if (!this.disposed) void this.panel.webview.postMessage(message);
  }
}
