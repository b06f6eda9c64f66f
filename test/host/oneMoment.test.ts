// While a program runs, all figures that stand beside each other are of one moment.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { LONG } from '../long.mjs';
import { FIRST, freshPage, PAGE, reached, rowAt, trace, writeScript } from './pageActions';
import { click, textsSince, until, watched, watchTexts } from './window';

const ITEM = '[id*="gpuMemoryTrace.live"]';
const CARD = '.ledger-legend [data-key=driver] [data-bytes]';
/** Each shows how much is alive: the header, the bar of the card, the title of the table, its row. */
const TOTALS = ['[data-value=live]', CARD, '[data-value=sums]', '[data-row="0"] [data-column^=live]'];
/**
 * Some allocations a frame, of a size that makes each total another one: from the beginning of a MiB, and for minutes below 100, from where
 * on a narrow cell has fewer digits than the other places.
 */
const JOB = `while True:
    allocate(ctypes.byref(address), ctypes.c_size_t(4000 if address.value else 2 << 20))
    time.sleep(0.002)
`;
const bytesOf = (text: string): string => /[\d.,]+ (?:[KMG]i)?B/.exec(text.split('·').at(-1) ?? '')?.[0] ?? text;

describe('The moment that is shown while a program runs', () => {
  before(freshPage);
  after(freshPage);

  it('is one in the header, the bar of the card, the table and the status bar, whatever the user does meanwhile', async () => {
    const file = writeScript('moment.py', JOB);
    await trace(file);
    await reached('running');
    await rowAt(file, FIRST + 1);
    await watchTexts(ITEM, [ITEM]);
    await watchTexts(PAGE, TOTALS);
    const seen = async (): Promise<string[][]> => (await watched(PAGE)).map(one => one.map(bytesOf));
    for (const column of ['site', 'live', ...(LONG ? ['site', 'live'] : [])]) {
      const before = (await seen()).length;
      await click(`[role=columnheader][data-column^=${column}] button`);
      await until('new figures', async () => (await seen()).length >= before + 4);
    }
    const barTexts = (await textsSince(ITEM, ITEM)).map(bytesOf);
    // The bar of the card is drawn a moment later, by the page.
    const card = await until(`the card to say ${barTexts.at(-1)} as well`, async () => {
      const figures = new Set(await textsSince(PAGE, CARD));
      return figures.has(barTexts.at(-1) ?? '') ? figures : null;
    });
    const all = await seen();
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    const differing = all.filter(one => new Set(one).size > 1);
    assert.deepEqual(differing, [], `of ${all.length} moments`);
    const alone = barTexts.slice(barTexts.findIndex(text => card.has(text))).filter(text => !card.has(text));
    // A page that is slow to draw leaves a picture out.
    const most = barTexts.length / 10;
    assert.ok(alone.length <= most, `${alone.join()}: what the status bar alone says, beside ${[...card].join()}`);
  });
});
