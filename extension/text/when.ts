// When something was, for the reader of a window: in the form of its language. Terminal and files have `formatTimestamp`.

/** `Nov 29, 9:45 AM`, of another year `Nov 29, 2026, 9:45 AM`. @param how without the day, with the second: `9:45:07 AM` */
export function formatWhen(atMs: number, language: string, { day = true, second = false } = {}): string {
  const [at, now] = [new Date(atMs), new Date()];
  const year = at.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  const date = day ? ({ year, month: 'short', day: 'numeric' } as const) : {};
  const seconds = second ? ({ second: '2-digit' } as const) : {};
  return at.toLocaleString(language, { ...date, hour: 'numeric', minute: '2-digit', ...seconds });
}

/** A text of a traced process: its `2025-08-25 08:45:33 UTC` as the time of day here. */
export function withLocalTimes(text: string, language: string): string {
  return text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/g, (_, day: string, time: string) =>
    formatWhen(Date.parse(`${day}T${time}Z`), language, { day: false, second: true }),
  );
}
