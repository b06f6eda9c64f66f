// Our server in a project's .mcp.json: what else is in the file stays as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withServer } from '../../../extension/views/commands/mcpJson';

const server = { command: 'node', args: ['/x/dist/cli.js', 'mcp'] };
const OURS = `"gpu-memory-trace": {
      "command": "node",
      "args": [
        "/x/dist/cli.js",
        "mcp"
      ]
    }`;

test('a file that is not there yet, or is empty', () => {
  for (const text of ['', ' \n', '{}\n'])
    assert.equal(withServer(text, server), `{\n  "mcpServers": {\n    ${OURS}\n  }\n}\n`);
});

test('other servers, comments and other keys stay; a second time changes nothing', () => {
  const before = `{
  // for all of us
  "mcpServers": {
    "github": { "command": "gh-mcp" }, // do not touch
  },
  "inputs": [],
}
`;
  const after = withServer(before, server) ?? '';
  for (const line of [
    '  // for all of us',
    '    "github": { "command": "gh-mcp" }',
    '// do not touch',
    '  "inputs": [],',
  ])
    assert.ok(after.includes(line), after);
  assert.ok(after.includes(OURS), after);
  assert.equal(withServer(after, server), after);
});

test('an older entry of ours is renewed', () => {
  const old = withServer('', { command: 'node', args: ['/old/dist/cli.js', 'mcp'], env: { A: '1' } }) ?? '';
  assert.equal(withServer(old, server), withServer('', server));
});

test('what is no JSON object, or has no object of servers, is left alone', () => {
  for (const text of ['{ "mcpServers": ', '[]', '"x"', '{ "mcpServers": [] }', '{ a: 1 }'])
    assert.equal(withServer(text, server), null, text);
});
