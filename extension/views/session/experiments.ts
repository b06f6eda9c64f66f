import * as vscode from 'vscode';
import type { Experiment, ExperimentEffect, Inquiry } from '../../protocol/requests/verdictRequests';
import { EXPERIMENTS } from '../../protocol/requests/verdictRequests';
import type { TraceVerdicts } from './traceVerdicts';

/** Asks the user what to try, and tries it. Throws a sentence where the program cannot be asked. */
export function confirmByExperiment(
  verdicts: TraceVerdicts,
  id: string,
): Promise<Inquiry<ExperimentEffect> | undefined> {
  const finding = verdicts.find(id);
  const refusal = verdicts.cannotAsk(finding);
  if (refusal !== null) throw new Error(refusal);
  return chooseExperiments(verdicts.pidOf(finding)).then(chosen => {
    return chosen === undefined ? undefined : verdicts.experiment(id, chosen);
  });
}

/** Lets the user choose what is tried in a process; nothing is chosen before. Undefined: the user went away. */
async function chooseExperiments(pid: number): Promise<Experiment[] | undefined> {
  const picked = await vscode.window.showQuickPick(items(), {
    title: vscode.l10n.t('Confirm by experiment: this acts in the running program (PID {0})', pid),
    placeHolder: vscode.l10n.t('Choose what to try: the program’s results stay the same, its speed and memory change'),
    canPickMany: true,
    matchOnDetail: true,
  });
  return picked === undefined || picked.length === 0 ? undefined : picked.map(item => item.experiment);
}

function items() {
  const { t } = vscode.l10n;
  const texts: Record<Experiment, [label: string, detail: string]> = {
    collect: ['gc.collect()', t('Runs Python’s collector: frees reference cycles that nobody uses')],
    'drop-exception': [
      t('Drop the last exception'),
      t('Forgets sys.last_exc and its traceback, which keeps the variables of its frames'),
    ],
    'empty-cache': [
      'torch.cuda.empty_cache()',
      t('Gives PyTorch’s unused segments back to the driver; the next steps allocate them again'),
    ],
    workspaces: [
      t('Clear cuBLAS workspaces'),
      t('Frees what cuBLAS keeps for each stream; it is allocated again when needed'),
    ],
    'ipc-collect': [
      'torch.cuda.ipc_collect()',
      t('Frees blocks that were shared with processes that are done with them'),
    ],
  };
  return EXPERIMENTS.map(experiment => {
    const [label, detail] = texts[experiment];
    return { experiment, label, detail };
  });
}
