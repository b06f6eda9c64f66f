// What is used of the protocol's library: a bundle of its own, as big as the rest of the command line, which only `mcp` reads.
export {
  fromJsonSchema,
  inputRequired,
  inputResponse,
  isInputRequiredResult,
  McpServer,
} from '@modelcontextprotocol/server';
export type { ServerContext } from '@modelcontextprotocol/server';
export { serveStdio } from '@modelcontextprotocol/server/stdio';
