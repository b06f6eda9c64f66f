import type { Translate } from './format';

/** The path of a module, or of equal layers, for people; of numbers alone, as nn.Sequential names its children, it would read as a count: `module 1`. */
export function moduleText(path: string, t: Translate): string {
  const [numbers] = /^[\d.,–*]+(?= \(|: |$)/.exec(path) ?? [''];
  if (numbers === '') return path;
  return /[,–*]/.test(numbers) ? t('modules {0}', path) : t('module {0}', path);
}
