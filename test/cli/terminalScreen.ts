// A command on a terminal of a given size, as it is seen there.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Terminal } from '@xterm/headless';
import { HANG_MS, type Place, python, root } from './launcher';

export interface Seen {
  type(keys: string): void;
  /** What is on the screen, without blanks at the ends of lines and at its end. */
  screen(): string;
  /** All that came, as it came. */
  raw(): string;
  /** Resolves with the screen once it shows this. */
  shows(pattern: RegExp): Promise<string>;
  /** Its exit status; rejects with the screen if it does not end. */
  ended(): Promise<number | null>;
}

/** Runs `words` of the command line, or with `shell` a line of bash in which "$@" is the command line, on a terminal. */
export function onTerminal(place: Place, [rows, columns]: [number, number], words: string[], shell = '"$@"'): Seen {
  const command = ['bash', '-c', shell, 'sh', ...place.command, ...words];
  const child = spawn(python, [join(root, 'test/cli/on_terminal.py'), String(rows), String(columns), ...command], {
    cwd: place.folder,
    env: { ...place.env, TERM: 'xterm-256color', TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  place.atEnd(() => child.kill('SIGKILL'));
  const terminal = new Terminal({ rows, cols: columns, allowProposedApi: true });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => {
    chunks.push(data);
    terminal.write(data);
  });
  const closed = new Promise<number | null>(done =>
    child.once('close', status => terminal.write('', () => done(status))),
  );
  const ended = (): Promise<number | null> => {
    const hangs = new Promise<never>((_, fail) => {
      setTimeout(() => fail(new Error(`It does not end:\n${screen()}`)), HANG_MS).unref();
    });
    return Promise.race([closed, hangs]);
  };
  const screen = (): string => {
    const { active } = terminal.buffer;
    const lines = Array.from({ length: rows }, (_, row) =>
      active.getLine(active.viewportY + row)?.translateToString(true),
    );
    return lines
      .map(line => (line ?? '').trimEnd())
      .join('\n')
      .trimEnd();
  };
  const shows = async (pattern: RegExp): Promise<string> => {
    for (const end = Date.now() + HANG_MS; !pattern.test(screen()); await new Promise(done => setTimeout(done, 20)))
      if (Date.now() > end || child.exitCode !== null) throw new Error(`No ${pattern} came:\n${screen()}`);
    return screen();
  };
  const raw = (): string => Buffer.concat(chunks).toString();
  return { type: keys => void child.stdin.write(keys), screen, raw, shows, ended };
}
