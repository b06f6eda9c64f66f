// The part of VS Code's interface that a test of the host needs, for what it imports. Test files share a process: theirs are joined.
import Module from 'node:module';

const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };

export function fakeVscode(parts: Record<string, object>): void {
  const { _load: load } = loader;
  const known = (() => {
    try {
      return load('vscode', module, false) as Record<string, object>;
    } catch {
      return {}; // this is the first one
    }
  })();
  const joined = { ...known };
  for (const [name, part] of Object.entries(parts))
    joined[name] = typeof part === 'function' ? part : { ...known[name], ...part };
  loader._load = (name, ...rest) => (name === 'vscode' ? joined : load(name, ...rest));
}
