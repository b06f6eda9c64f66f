import Module from 'node:module';

const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };

/** Imports a module of the extension, for which `vscode` is this object. */
export async function importWith<T>(vscode: object, load: () => Promise<T>): Promise<T> {
  const { _load: before } = loader;
  loader._load = (name, ...rest) => (name === 'vscode' ? vscode : before(name, ...rest));
  try {
    return await load();
  } finally {
    loader._load = before;
  }
}
