import { Usage } from './optionReader';

/** Whether a rank is among those that were named. */
export type RankSet = (rank: number) => boolean;

/** `0,7,64-71`. Throws `Usage`. */
export function parseRanks(text: string): RankSet {
  const ranges = text.split(',').map(part => {
    const [, from, to = from] = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(part.trim()) ?? [];
    if (from === undefined || Number(to) < Number(from))
      throw new Usage(`--ranks ${text} is not a list of ranks, such as 0,7,64-71.`);
    return [Number(from), Number(to)] as const;
  });
  return rank => ranges.some(([from, to]) => rank >= from && rank <= to);
}
