// Who may import whom, type-only imports included: `depcruise extension webview test`. Nothing goes in a circle; and each
// row of `walls` names all that the files of a room may import besides each other, most of it from the rows above it.

/** What host and page speak of, and how it is written. */
const SPOKEN = ['extension/base', 'extension/protocol', 'extension/text'];

/** Every folder and file by its path, without its ending; `*` is one name. `node:` is all of Node.js; other words are packages. */
const walls = [
  { room: 'extension/base', may: [] },
  { room: 'extension/protocol', may: ['extension/base'] },
  { room: 'extension/protocol/requests', may: ['extension/base', 'extension/protocol'] },
  { room: 'extension/text', may: ['extension/protocol'] },
  { room: 'extension/files', may: ['node:', ...SPOKEN] },
  { room: 'extension/native', may: ['node:', ...SPOKEN, 'extension/files'] },

  { room: 'extension/capture/processes', may: ['node:', ...SPOKEN, 'extension/files'] },
  {
    room: 'extension/capture/launch',
    may: ['node:', ...SPOKEN, 'extension/files', 'extension/capture/processes'],
  },
  {
    room: 'extension/capture/traces',
    may: ['node:', ...SPOKEN, 'extension/files', 'extension/capture/processes'],
  },
  { room: 'extension/capture/kernel', may: ['node:', ...SPOKEN, 'extension/files', 'extension/capture'] },
  { room: 'extension/capture/checks', may: ['node:', ...SPOKEN, 'extension/files', 'extension/capture'] },

  { room: 'extension/analysis', may: ['@vscode/l10n', ...SPOKEN] },
  { room: 'extension/analysis/series', may: judging() },
  { room: 'extension/analysis/sites', may: judging('series') },
  { room: 'extension/analysis/ledger', may: judging('series') },
  { room: 'extension/analysis/findings/kinds', may: judging('series', 'sites', 'ledger') },
  { room: 'extension/analysis/findings', may: judging('series', 'sites', 'ledger', 'findings/kinds') },
  { room: 'extension/analysis/job', may: judging('series', 'sites', 'findings') },

  { room: 'extension/report/trees', may: reportBase() },
  { room: 'extension/report/tables', may: reportBase('extension/report/trees') },
  { room: 'extension/report/lines', may: reportBase() },
  { room: 'extension/report/gate', may: reportBase('extension/report/tables') },
  { room: 'extension/report/documents', may: reportBase('extension/report/trees', 'extension/report/tables') },

  {
    room: 'extension/exporters',
    may: ['node:', ...SPOKEN, 'extension/files', 'extension/native', 'hyparquet-writer', 'pprof-format'],
  },

  { room: 'extension/fit', may: ['@vscode/l10n', ...SPOKEN, 'extension/native', 'extension/analysis'] },

  { room: 'extension/html', may: ['node:', '@vscode/l10n', ...SPOKEN, 'extension/files', 'extension/capture'] },

  { room: 'extension/jobs', may: cliBase('extension/exporters') },

  { room: 'extension/cli/arguments', may: cliBase() },
  { room: 'extension/cli/output', may: cliBase() },
  {
    room: 'extension/cli/job',
    may: cliBase('extension/exporters', 'extension/jobs', 'extension/cli/arguments', 'extension/cli/output'),
  },
  {
    room: 'extension/cli/report',
    may: cliBase(
      'extension/exporters',
      'extension/engine',
      'extension/fit',
      'extension/html',
      'extension/jobs',
      'extension/cli/arguments',
      'extension/cli/output',
      'extension/cli/job',
    ),
  },
  { room: 'extension/cli/live', may: cliBase('extension/cli/output') },
  {
    room: 'extension/cli/mcp',
    may: cliBase(
      'extension/fit',
      'extension/jobs',
      'extension/cli',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server/stdio',
    ),
  },
  { room: 'extension/cli', may: cliBase('extension/exporters', 'extension/fit', 'extension/jobs', 'extension/cli') },

  {
    room: 'extension/engine',
    may: cliBase('@vscode/l10n', 'extension/exporters', 'extension/fit', 'extension/html', 'extension/jobs'),
  },
  { room: 'extension/client', may: ['node:', '@vscode/l10n', ...SPOKEN] },

  { room: 'extension/editor', may: hostBase('extension/report/lines') },
  { room: 'extension/views', may: ['node:', 'vscode'] },
  {
    room: 'extension/views/session',
    may: hostBase('extension/capture', 'extension/client', 'extension/views/*'),
  },
  {
    room: 'extension/views/page',
    may: hostBase(
      'extension/capture',
      'extension/client',
      'extension/views/*',
      'extension/views/session',
      'extension/editor',
    ),
  },
  {
    room: 'extension/views/commands',
    may: hostBase('extension/capture', 'extension/client', 'extension/views', 'extension/editor'),
  },
  {
    room: 'extension/parts',
    may: ['node:', 'vscode', 'extension/language', 'extension/client', 'extension/editor', 'extension/views'],
  },
  { room: 'extension/language', may: ['vscode', '@vscode/l10n'] },
  { room: 'extension/main', may: ['vscode', 'extension/views', 'extension/parts'] },

  { room: 'webview', may: ['@vscode/l10n', ...SPOKEN] },
  { room: 'webview/components', may: pageBase('@vscode/webview-ui-toolkit') },
  { room: 'webview/doctor', may: pageBase() },
  { room: 'webview/job', may: pageBase() },
  { room: 'webview/recorded', may: pageBase('extension/report') },
  { room: 'webview/explorer/common', may: pageBase() },
  { room: 'webview/explorer/state', may: pageBase('webview/explorer/common') },
  { room: 'webview/explorer/timeline', may: partBase('chart.js') },
  { room: 'webview/explorer/details', may: partBase() },
  { room: 'webview/explorer/table', may: partBase() },
  { room: 'webview/explorer/flame', may: partBase() },
  { room: 'webview/explorer/segments', may: partBase() },
  { room: 'webview/explorer/findings', may: partBase() },
  { room: 'webview/explorer/compare', may: partBase() },
  { room: 'webview/explorer/fit', may: partBase() },
  { room: 'webview/explorer/ledger', may: partBase() },
  { room: 'webview/explorer/shell', may: pageBase('webview/explorer') },
  { room: 'webview/explorer', may: pageBase('webview/explorer') },
];

/** What stands in `analysis` itself is for all of its rooms. */
function judging(...rooms) {
  return ['@vscode/l10n', ...SPOKEN, 'extension/analysis/*', ...rooms.map(room => `extension/analysis/${room}`)];
}

/** What shows what was judged. */
function reportBase(...more) {
  return ['@vscode/l10n', ...SPOKEN, 'extension/analysis', ...more];
}

/** What runs a program, reads its trace, judges it and shows that. */
function cliBase(...more) {
  return [
    'node:',
    ...SPOKEN,
    'extension/files',
    'extension/native',
    'extension/capture',
    'extension/analysis',
    'extension/report',
    ...more,
  ];
}

/** What runs in the extension host: it reads no trace. */
function hostBase(...more) {
  return ['node:', 'vscode', '@vscode/l10n', ...SPOKEN, 'extension/files', 'extension/analysis', ...more];
}

function pageBase(...more) {
  return ['@vscode/l10n', ...SPOKEN, 'webview/*', ...more];
}

/** A part of the page knows what parts are, what the user chose and how to ask; of no other part anything. */
function partBase(...more) {
  return pageBase('webview/explorer/common', 'webview/explorer/state', ...more);
}

const literally = text => text.replaceAll('.', '\\.').replaceAll('*', '[^/]+$');

/** A path below the repository, or a package: as it is found, as its types are, or by its bare name. */
const pattern = entry =>
  /^(extension|webview)/.test(entry)
    ? `^${literally(entry)}${entry.endsWith('*') ? '' : '[./]'}`
    : `^${literally(entry)}$|node_modules/(@types/)?${literally(entry)}/`;

/** What stands in the room itself, not in the rooms below it that have a row of their own. */
const inside = ({ room }) => ({
  path: `^${literally(room)}[./]`,
  pathNot: walls.filter(other => other.room.startsWith(`${room}/`)).map(other => pattern(other.room)),
});

function wall(row) {
  const own = inside(row);
  const below = own.pathNot.length > 0 ? `(?!${own.pathNot.map(path => path.slice(1)).join('|')})` : '';
  const allowed = row.may.filter(entry => entry !== 'node:').map(pattern);
  return {
    name: `${row.room} may import only ${['its own files', ...row.may].join(', ')}`,
    severity: 'error',
    from: own,
    to: {
      pathNot: [`^${below}${own.path.slice(1)}`, ...allowed],
      ...(row.may.includes('node:') ? { dependencyTypesNot: ['core'] } : {}),
    },
  };
}

export default {
  forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }, ...walls.map(wall)],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|build)/' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.d.ts', '.mts', '.mjs', '.js'] },
  },
};
