import * as vscode from 'vscode';
import { diagnose, type Diagnosis } from '../../capture/checks/diagnose';
import { reasonOf } from '../../capture/traces/traceDirectory';
import type { Engine } from '../../protocol/requests/engineRequests';
import { doctorMessage, type DoctorGroup, type ToDoctorPage } from '../../protocol/requests/doctorMessages';
import { LINK_COMMANDS, withLinks } from './doctorLinks';
import { fillPage } from './fill';
import { inheritedEnvironment } from '../session/terminal';

/** What this machine can record, as a page: each check with what to do about it. One page at a time. */
export class DoctorPage implements vscode.Disposable {
  private panel: vscode.WebviewPanel | null = null;

  constructor(
    private readonly dist: string,
    private readonly engine: Engine,
    private readonly media: vscode.Uri,
    private readonly interpreter: () => Promise<string | null>,
  ) {}

  show(): void {
    if (this.panel !== null) return this.panel.reveal();
    const title = vscode.l10n.t('GPU Memory: Check setup');
    const panel = vscode.window.createWebviewPanel('gpuMemoryTrace.doctor', title, vscode.ViewColumn.Active);
    this.panel = panel;
    panel.onDidDispose(() => (this.panel = null));
    panel.webview.onDidReceiveMessage(message => void this.receive(message));
    fillPage(panel.webview, this.media, 'doctor', title, LINK_COMMANDS);
  }

  private async receive(value: unknown): Promise<void> {
    const message = doctorMessage(value);
    if (message === null) return;
    if (message.type === 'copy') return vscode.env.clipboard.writeText(message.text);
    this.post({ type: 'checking' });
    try {
      this.post({
        type: 'checked',
        groups: groupsOf(await this.check()),
      });
    } catch (error) {
      this.post({ type: 'problem', sentence: vscode.l10n.t('The checks could not run: {0}', reasonOf(error)) });
    }
  }

  private async check(): Promise<Diagnosis> {
    const problem = await this.engine.request('problem', undefined);
    const python = (await this.interpreter()) ?? undefined;
    return diagnose(this.dist, inheritedEnvironment(), problem, python);
  }

  private post(message: ToDoctorPage): void {
    void this.panel?.webview.postMessage(message);
  }

  dispose(): void {
    this.panel?.dispose();
  }
}

function groupsOf({ checks, gpu, attach }: Diagnosis): DoctorGroup[] {
  const { t } = vscode.l10n;
  const start = gpu
    ? t('Programs can be recorded on this machine.')
    : t('Programs cannot be recorded on this machine yet. What is missing is marked below.');
  const able = gpu
    ? t('Attaching to running programs is possible here.')
    : t('The privileges for attaching are set, but the problems above must be fixed first.');
  const running = attach.possible
    ? able
    : t('Attaching to running programs is not possible here. Programs started under the tracer do not need it.');
  return [
    { title: t('Start a program under the tracer'), verdict: start, possible: gpu, checks: checks.map(withLinks) },
    {
      title: t('Attach to a running program'),
      verdict: running,
      possible: gpu && attach.possible,
      checks: attach.checks.map(withLinks),
    },
  ];
}
