export type Truth = Record<string, string>;
export function truthOf(folder: string): Truth[];
export function fileOf(folder: string, name: string, unpacked: string): string;
export function checkSnapshot(file: string, truth: Truth): string[];
