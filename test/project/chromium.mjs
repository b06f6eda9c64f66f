// The browser of the page's tests and of the VS Code stand-in.
import { ensurePrograms } from './systemPackages.mjs';
import { which } from './root.mjs';

/** The one without a user interface is smaller, and needs an eighth less of the processor. */
const NAMES = ['chromium-headless-shell', 'chromium'];

/** Path of the browser; undefined where there is none. `CHROMIUM` names another. */
export const chromiumPath = () => process.env.CHROMIUM ?? NAMES.map(name => which(name)).find(Boolean);

/** null when it is there (now); else one sentence with the line to type. */
export async function ensureChromium() {
  if (chromiumPath()) return null;
  const fonts = ['fonts-dejavu-core', 'fonts-liberation'];
  let problem = null;
  for (const name of NAMES) {
    problem = await ensurePrograms([name], [name, ...fonts]);
    if (problem === null) break;
  }
  return problem;
}
