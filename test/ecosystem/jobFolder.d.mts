interface Answer {
  columns: string[];
  rows: (string | number | null)[][];
}
export type Answers = Record<string, Answer>;
export function queriesOf(root: string): string[];
export function makeJob(root: string, place: string): Promise<string>;
export function sql(root: string, folder: string, ...words: string[]): string;
export function ask(root: string, python: string, folder: string, engine: 'duckdb' | 'pyarrow'): Answers;
export function ask(
  root: string,
  python: string,
  folder: string,
  engine: 'schemas',
): Record<string, { types: Record<string, string>; rows: number; files: number }>;
export function differences(one: Answers, other: Answers): string[];
