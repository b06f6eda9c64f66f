export const FIRST: number;
export function driverScript(body: string): string;
