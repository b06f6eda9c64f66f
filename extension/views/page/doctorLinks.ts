// Where the page of checks leads: to what mends a gap, and to the manual.
import * as vscode from 'vscode';
import type { DoctorCheck, DoctorLink } from '../../protocol/requests/doctorMessages';

/** The commands that a link of the page may run. */
export const LINK_COMMANDS = [
  'gpuMemoryTrace.chooseInterpreter',
  'gpuMemoryTrace.trySample',
  'workbench.action.openSettings',
  'gpuMemoryTrace.openManual',
] as const;

function command(name: (typeof LINK_COMMANDS)[number], ...given: unknown[]): string {
  return `command:${name}?${encodeURIComponent(JSON.stringify(given))}`;
}

/** Gives a check that found something wrong its links. */
export function withLinks(check: DoctorCheck): DoctorCheck {
  const { t } = vscode.l10n;
  const manual = (label: string, page: string): DoctorLink => ({
    label,
    href: command('gpuMemoryTrace.openManual', page),
  });
  const settings = {
    label: t('Open settings'),
    href: command('workbench.action.openSettings', '@ext:gpu-memory-trace.gpu-memory-trace'),
  };
  const python = { label: t('Choose a Python interpreter…'), href: command('gpuMemoryTrace.chooseInterpreter') };
  const pytorch = { label: t('Install PyTorch'), href: 'https://pytorch.org/get-started/locally/' };
  const sample = { label: t('Try the sample'), href: command('gpuMemoryTrace.trySample') };
  const needed = manual(t('Requirements'), 'docs/getting-started.md');
  const traces = manual(t('About traces'), 'docs/overhead-privacy-limits.md');
  const attaching = [manual(t('About attaching'), 'docs/attaching.md')];
  const links: Record<string, DoctorLink[]> = {
    'GPU and driver': [sample, needed],
    libcupti: [python, needed],
    Python: [python, settings],
    PyTorch: [pytorch, python],
    'trace directory': [traces],
    'disk space': [settings, traces],
    ...Object.fromEntries(
      ['tracer', 'permissions', 'BPF', 'BTF', 'probes', 'self-test'].map(name => [name, attaching]),
    ),
  };
  return check.state === 'ok' ? check : { ...check, links: links[check.name] ?? [] };
}
