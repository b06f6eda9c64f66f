import { isOfBackward, type Site } from '../../protocol/trace';

/** What of a training step made the memory of a site, by its stack. Null: neither of these. */
export function passOf(site: Site | null): 'backward' | 'optimizer' | null {
  if (site === null) return null;
  const runs = (folder: string): boolean => site.frames.some(({ file }) => file.includes(folder));
  if (runs('/torch/optim/')) return 'optimizer';
  return isOfBackward(site.source) || runs('/torch/autograd/') ? 'backward' : null;
}
