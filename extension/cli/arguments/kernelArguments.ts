import type { KernelChoice } from '../../capture/kernel/kernelSpec';
import { applyOptions, HelpRequested, type OptionTable, Usage } from './optionReader';

export interface KernelArguments extends KernelChoice {
  verb: 'kernel';
  deed: 'install' | 'uninstall' | 'list';
}

const OPTIONS: OptionTable<KernelArguments> = {
  '--kernel': (parsed, options) => (parsed.kernel = options.value()),
  '--python': (parsed, options) => (parsed.python = options.value()),
  '--user': (parsed, options) => {
    if (options.flag()) parsed.place = 'user';
  },
  '--prefix': (parsed, options) => (parsed.place = { prefix: options.value() }),
  '--name': (parsed, options) => (parsed.name = options.value()),
};

/** What stands behind `kernel`. Throws `Usage`, `HelpRequested`. */
export function parseKernel(words: readonly string[]): KernelArguments {
  const parsed: KernelArguments = {
    ...{ verb: 'kernel', deed: 'install', kernel: null, python: null, place: null, name: null },
  };
  const [deed, ...more] = applyOptions(parsed, words, OPTIONS);
  if (deed === 'help') throw new HelpRequested(parsed.verb);
  if ((deed !== 'install' && deed !== 'uninstall' && deed !== 'list') || more.length > 0)
    throw new Usage('Choose one: gpu-memtrace kernel install, uninstall or list.');
  if (words.includes('--user') && words.some(word => word.startsWith('--prefix')))
    throw new Usage('Give --user or --prefix, not both.');
  if (deed === 'list' && words.length > 1) throw new Usage('kernel list takes no options.');
  if (parsed.kernel !== null && parsed.python !== null) throw new Usage('Give --kernel or --python, not both.');
  // As Jupyter names kernels.
  if (parsed.name !== null && !/^[\w.-]+$/.test(parsed.name))
    throw new Usage(`--name ${parsed.name}: a kernel name consists of letters, digits, ".", "-" and "_".`);
  return { ...parsed, deed };
}
