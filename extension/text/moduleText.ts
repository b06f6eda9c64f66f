import type { Translate } from './format';

/** The path of a module, or of equal layers, for people; of numbers alone, as nn.Sequential names its children, it would read as a count: `module [1]`. */
export function moduleText(path: string, t: Translate): string {
  const [numbers] = /^[\d.,–*]+(?= \(|: |$)/.exec(path) ?? [''];
  if (numbers === '') return path;
  const named = `[${numbers}]${path.slice(numbers.length)}`;
  return /[,–*]/.test(numbers) ? t('modules {0}', named) : t('module {0}', named);
}
