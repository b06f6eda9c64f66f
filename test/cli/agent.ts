// A coding agent's client of `gpu-memtrace mcp`: the protocol's own.
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { TestContext } from 'node:test';
import type { Place } from './launcher';

export type Fields = Record<string, unknown>;
export interface Answered {
  /** The parsed text, which is JSON; empty where the tool refused. */
  content: Fields;
  text: string;
  refused: boolean;
  /** Of the result as it is sent. */
  sentBytes: number;
}
export interface Agent {
  client: Client;
  pid: number;
  /** Questions put to the user. */
  questions: string[];
  call(name: string, given?: Fields, options?: Parameters<Client['callTool']>[1]): Promise<Answered>;
}
interface How {
  env?: NodeJS.ProcessEnv;
  /** What the user answers; absent: the client cannot ask. */
  agrees?: boolean;
  /** `legacy`: the protocol before 2026-07-28. */
  mode?: 'auto' | 'legacy';
}

/** Starts the server in a place, as an agent does; it is closed with the test. */
export async function startAgent(
  t: TestContext,
  place: Place,
  { env = {}, agrees, mode = 'auto' }: How = {},
): Promise<Agent> {
  const options: ClientOptions = { versionNegotiation: { mode } };
  if (agrees !== undefined) options.capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, options);
  const questions: string[] = [];
  if (agrees !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message);
      return agrees ? { action: 'accept', content: {} } : { action: 'decline' };
    });
  const [command, ...args] = [...place.command, 'mcp'];
  const variables = Object.entries({ ...place.env, ...env }).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const transport = new StdioClientTransport({
    ...{ command: command ?? '', args, cwd: place.folder, stderr: 'ignore' },
    env: Object.fromEntries(variables) as Record<string, string>,
  });
  await client.connect(transport);
  t.after(() => client.close());
  return {
    client,
    questions,
    pid: transport.pid ?? 0,
    async call(name, given = {}, how) {
      const result = await client.callTool({ name, arguments: given }, how);
      const [first] = result.content as { text?: string }[];
      const [text, refused] = [first?.text ?? '', result.isError === true];
      const content = refused ? {} : (JSON.parse(text) as Fields);
      return { content, text, refused, sentBytes: Buffer.byteLength(JSON.stringify(result)) };
    },
  };
}
