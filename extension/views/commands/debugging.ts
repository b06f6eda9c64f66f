// Programs that VS Code's Python debugger runs and that are traced, since their configuration has "gpuMemoryTrace": true.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { note } from '../../capture/launch/terminalScript';
import { fieldsIn, isFields } from '../../base/fields';
import type { TensorFound } from '../../protocol/requests/engineRequests';
import { Refused } from '../session/refused';
import type { Session } from '../session/session';
import type { Sessions } from '../session/sessions';
import type { OpenTerminal, ProgramTerminal } from '../session/terminal';
import { activePythonFile, makePlan } from './chooseLaunch';

const NAME = /[A-Za-z_]\w*(\.[A-Za-z_]\w*)*/;
/** The user stops it; when its program has ended by itself, this follows too. */
const ENDS = /^(terminate|disconnect)$/;
const CONTINUES = /^(continue|next|stepIn|stepOut|goto)$/;

/** Debugs the active Python file and traces it. Rejects with a sentence. */
export async function debugActiveFile(): Promise<void> {
  const uri = await activePythonFile();
  if (uri === undefined) return;
  if (vscode.extensions.getExtension('ms-python.debugpy') === undefined) {
    throw new Refused(
      vscode.l10n.t('Install the Python Debugger extension (ms-python.debugpy), which runs the debugger.'),
    );
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), {
    type: 'debugpy',
    request: 'launch',
    name: basename(uri.fsPath),
    program: uri.fsPath,
    console: 'integratedTerminal',
    gpuMemoryTrace: true,
  });
}

/** Stands for a terminal: the debugger starts the program, reports its state, and ends it. */
class Debugged implements ProgramTerminal {
  readonly pid = Promise.resolve(undefined);
  /** The debugger's session that started the program; those of its children are below that. */
  root: vscode.DebugSession | null = null;
  private readonly ended = new vscode.EventEmitter<void>();
  over = false;
  /** Its program has ended by itself. */
  ending = false;
  /** Sessions whose program is paused, and the processes of all. */
  readonly paused = new Set<string>();
  readonly pids = new Map<string, number>();
  readonly closed = (): boolean => this.over;
  readonly onClosed = this.ended.event;

  constructor(readonly directory: string) {}

  end(): void {
    this.over = true;
    this.ended.fire();
  }

  async interrupt(): Promise<boolean> {
    if (this.root === null) this.end();
    else await vscode.debug.stopDebugging(this.root);
    return true;
  }
}

export class Debugging implements vscode.DebugAdapterTrackerFactory, vscode.HoverProvider, vscode.Disposable {
  private readonly debugged: Debugged[] = [];
  private readonly registered = [
    vscode.debug.registerDebugAdapterTrackerFactory('*', this),
    vscode.debug.onDidTerminateDebugSession(session => this.ended(session)),
    vscode.languages.registerHoverProvider({ language: 'python', scheme: 'file' }, this),
  ];

  /** Starts a trace, or shows why there is none. */
  begin?: (makePlan: () => Promise<LaunchPlan | undefined>, open: OpenTerminal) => Promise<void>;

  constructor(private readonly sessions: Sessions) {}

  /** Begins to trace what the debugger is about to start, and gives it what that needs; undefined: nothing is to start. */
  async resolve(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    let resolved: vscode.DebugConfiguration | undefined;
    const open: OpenTerminal = (directory, variables) => {
      resolved = { ...configuration, env: { ...(configuration.env as object | undefined), ...variables } };
      return (this.debugged[this.debugged.length] = new Debugged(directory));
    };
    await this.begin?.(() => makePlan(configuration, folder), open);
    return resolved;
  }

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    const debugged = this.of(session);
    if (debugged === undefined) return undefined;
    debugged.root ??= session;
    return {
      onWillReceiveMessage: ({ command }: { command?: string }) => {
        if (CONTINUES.test(command ?? '')) this.setPaused(debugged, session, false);
        if (ENDS.test(command ?? '') && session === debugged.root && !debugged.ending)
          this.traced(debugged)?.noteStop();
      },
      onDidSendMessage: ({
        event,
        body,
      }: {
        event?: string;
        body?: { systemProcessId?: number; exitCode?: number };
      }) => {
        if (event === 'stopped' || event === 'continued') this.setPaused(debugged, session, event === 'stopped');
        const { systemProcessId: pid, exitCode: status } = body ?? {};
        const isRoot = session === debugged.root;
        if (isRoot && (event === 'exited' || event === 'terminated')) debugged.ending = true;
        if (event === 'process' && pid !== undefined) debugged.pids.set(session.id, pid);
        if (event === 'process' && pid !== undefined && isRoot) note(debugged.directory, 'pid', pid);
        // A signal's number comes as a negative status.
        if (event === 'exited' && status !== undefined && isRoot)
          note(debugged.directory, 'status', status < 0 ? 128 - status : status);
      },
    };
  }

  private ended(session: vscode.DebugSession): void {
    const debugged = this.of(session);
    if (debugged) this.setPaused(debugged, session, false);
    if (debugged?.root === session) debugged.end();
  }

  private setPaused(debugged: Debugged, { id }: vscode.DebugSession, still: boolean): void {
    if (still) debugged.paused.add(id);
    else if (!debugged.paused.delete(id)) return;
    this.traced(debugged)?.setStandsStill(debugged.paused.size > 0);
  }

  /** The trace of what a session debugs; undefined: it is not traced. */
  private of(session: vscode.DebugSession): Debugged | undefined {
    const [variables] = fieldsIn([session.configuration.env]);
    const own = this.debugged.find(({ directory }) => directory === variables?.GPU_MEMTRACE_DIR);
    return own ?? (session.parentSession && this.of(session.parentSession));
  }

  private readonly traced = ({ directory }: Debugged): Session | undefined =>
    this.sessions.all.find(({ remembered }) => remembered?.directory === directory);

  dispose(): void {
    for (const one of this.registered) one.dispose();
  }

  /** Where a debugger holds the program, the memory of the tensor below the pointer. */
  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const range = document.getWordRangeAtPosition(position, NAME);
    const word = document.getWordRangeAtPosition(position, /\w+/);
    if (range === undefined || word === undefined) return undefined;
    const found = await this.find(document.getText(range.with({ end: word.end })));
    return found === null ? undefined : new vscode.Hover(found.text, range);
  }

  /** Of a variable as VS Code's view names it. */
  async variable(given: unknown): Promise<{ name: string; found: TensorFound | null }> {
    const [variable] = fieldsIn([isFields(given) ? given.variable : null]);
    const { name, evaluateName = name } = variable ?? {};
    return { name: String(name), found: await this.find(String(evaluateName)) };
  }

  /** Null: it is no tensor, or none with memory that was traced. */
  private async find(expression: string): Promise<TensorFound | null> {
    const item = vscode.debug.activeStackItem;
    const debugged = item && this.of(item.session);
    const session = debugged && this.traced(debugged);
    const pid = debugged?.pids.get(item?.session.id ?? '');
    if (!(item instanceof vscode.DebugStackFrame) || !session?.facts || pid === undefined) return null;
    const address = await addressOf(item, expression);
    return address === null ? null : session.request('tensor', { pid, address });
  }
}

/**
 * Queries the program for the begin of a tensor's memory; null: it is none. Only types of PyTorch itself are queried: a class of the program's
 * could run code of its own.
 */
async function addressOf({ session, frameId }: vscode.DebugStackFrame, expression: string): Promise<bigint | null> {
  const lookup =
    `(lambda x, t: t and type(x) in (t.Tensor, t.nn.Parameter) and t.Tensor.data_ptr(x)` +
    ` - t.Tensor.storage_offset(x) * t.Tensor.element_size(x))(${expression}, __import__("sys").modules.get("torch"))`;
  try {
    const query = { expression: lookup, frameId, context: 'watch' };
    const { result } = (await session.customRequest('evaluate', query)) as { result: string };
    return /^[1-9]\d*$/.test(result) ? BigInt(result) : null;
  } catch {
    return null; // no such name here
  }
}
