import type { Command } from 'commander';
import { portFrom } from '../vmcp/main.ts';

/** Adds `toolmgr serve`. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the workload manager: an HTTP API for workloads, registries, secrets, clients and skills')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on, 0 for any', portFrom, 8080)
    .option('--socket <path>', 'unix socket to listen on instead, for this user and the group of the file')
    .option('--allow-host <name...>', 'more names that clients may use in the URL, e.g. behind a proxy')
    .option(
      '--open-registry',
      'serve the registry listing (/registry/…) without a token, for MCP clients that cannot send one',
    )
    .option('--open', 'open the page in the browser; when a manager runs, its page')
    .option(
      '--mcp-without-confirmation',
      'tools of /mcp/manager that destroy something do not ask first, for clients without elicitation',
    )
    .option('--debug', 'log more')
    .addHelpText(
      'after',
      `
The token of local callers is in server/token of the state folder. On a unix socket no token is needed.

Examples:
  toolmgr serve
  toolmgr serve --open
  toolmgr serve --socket ~/.local/state/toolmgr/server/api.sock`,
    )
    .action(async (options) => (await import('./serve.ts')).serve(options));
}
