/** Names of what `main.ts` registers and `parts.ts` makes. */

/** Behind `gpuMemoryTrace.`; those of the manifest, and what only the page, a quick fix and a hover call. */
export const COMMANDS = [
  'start',
  'startConfiguration',
  'startWithArguments',
  'startChosen',
  'traceAgain',
  'trySample',
  'debug',
  'runTest',
  'showTensor',
  'attach',
  'stop',
  'detach',
  'pauseRecording',
  'openTrace',
  'saveTrace',
  'mark',
  'selectSession',
  'closeSession',
  'compareTraces',
  'showFinding',
  'applyFix',
  'chooseInterpreter',
  'whoHolds',
  'openWide',
  'doctor',
  'manageTrust',
  'openReport',
  'openManual',
  'setUp',
  'installKernel',
  'showPanel',
  'toggleLineBytes',
] as const;
export type CommandName = (typeof COMMANDS)[number];

export const EXPLORER = 'gpuMemoryTrace.explorer';
export const WIDE = 'gpuMemoryTrace.wide';
export const MCP_SERVERS = 'gpuMemoryTrace.mcp';
export const SHOW_TOOL = 'show_gpu_memory_in_editor';
export const TRACE_EDITORS = ['gpuMemoryTrace.savedTrace', 'gpuMemoryTrace.snapshot'] as const;
/** Given to `traceAgain`. */
export const CHANGE_ARGUMENTS = 'arguments';
/** In the workspace's memory: the programs that are traced. */
export const RUNNING_SESSIONS = 'runningSessions';
