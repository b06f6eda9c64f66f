// What states and findings are called, in the language of the page.
import { t } from '@vscode/l10n';
import { vocabulary } from '../../../extension/text/vocabulary';

export const WORDS = vocabulary(t);
