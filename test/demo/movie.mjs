// A moving picture from pictures of a window: each is shown as long as its shot says.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrograms } from '../project/systemPackages.mjs';
import { must } from '../project/root.mjs';

const PALETTE = 'split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none:diff_mode=rectangle';

/** Takes shots of `page`, as files of `folder`. */
export class Movie {
  #kept = [];
  #taken = 0;

  constructor(page, folder) {
    this.page = page;
    this.folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }

  async #take() {
    const file = join(this.folder, `${String(this.#taken++).padStart(3, '0')}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  /** The window as it is now. */
  async shot(seconds) {
    this.#kept.push({ file: await this.#take(), seconds });
  }

  /** `act` gets what takes a shot, as often as it likes; `count` of them are kept, evenly over its time, up to the last. */
  async shots(seconds, count, act) {
    const files = [];
    await act(async () => files.push(await this.#take()));
    for (let i = 0; i < count; i++) {
      const file = files[Math.round(((i + 1) * (files.length - 1)) / count)];
      this.#kept.push({ file, seconds: seconds / count });
    }
  }

  /** Writes all of it as an animated GIF. */
  async save(file) {
    const problem = await ensurePrograms(['ffmpeg'], ['ffmpeg']);
    if (problem) throw new Error(problem);
    const lines = this.#kept.map(shot => `file '${shot.file}'\nduration ${shot.seconds}\n`);
    lines.push(`file '${this.#kept.at(-1).file}'\n`); // named again: else the last one's time does not count
    const list = join(this.folder, 'shots.txt');
    writeFileSync(list, lines.join(''));
    await must('ffmpeg', [
      ...['-y', '-v', 'error', '-f', 'concat', '-safe', '0', '-i', list],
      ...['-vf', PALETTE, '-fps_mode', 'vfr', '-loop', '0', file],
    ]);
  }
}
