import { durationMs } from '@toolmgr/plugins/kit/settings';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LONGEST_CALL_MS } from '../../client-files/call-timeout.ts';
import { ERAS } from '../../client-files/eras.ts';
import { FOUND_CLIENTS } from '../../client-files/found-clients.ts';
import { ALLOWED_ORIGINS, readOrigins } from '../../shared/allowed-origins.ts';
import { LOG_FORMAT_FLAG, LOG_FORMATS } from '../../shared/gateway-log/log-format.ts';
import { MEMORY_BUDGET, memorySizeFrom } from '../../shared/memory-budget.ts';
import { portFrom } from '../../shared/port-option.ts';
import { startTimeoutFrom } from '../../shared/start-timeout.ts';

/** Adds `toolmgr up`. */
export function addUpCommand(program: Command): void {
  program
    .command('up')
    .description(
      'serve the servers of an existing client configuration (Claude, Cursor, VS Code, Windsurf, Zed, Codex) behind one endpoint',
    )
    .argument('[file]', 'client file, JSON or TOML; default: the first file found in the usual places')
    .addOption(
      new Option(
        '--stdio',
        'serve one client over standard input and output, for clients that only start programs',
      ).conflicts(['host', 'port']),
    )
    .addOption(new Option('--client <name>', 'serve the files of one client').choices(FOUND_CLIENTS))
    .option('--all', 'serve the files of all clients; a server that several files have is served once')
    .option('--watch', 'reload the file when it changes')
    .option(
      '--no-ask',
      'call destructive tools without asking; by default a client that supports elicitation asks before the first call of each one',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on, 0 for any', portFrom, 4483)
    .option(ALLOWED_ORIGINS.flags, ALLOWED_ORIGINS.description, readOrigins)
    .addOption(
      new Option(
        '--era <revision>',
        'MCP revision of the servers: legacy (2025-11-25 and before), modern (2026-07-28), or auto: detected for each server, with the best match for each client; "era" in the entry of a server takes precedence',
      ).choices(ERAS),
    )
    .option(
      '--start-timeout <duration>',
      'time limit for the first start of a program, including its installation (default: 5m)',
      startTimeoutFrom,
    )
    .option(
      '--timeout <duration>',
      'time limit of a call without progress, for servers whose entry has no timeout (default: 10m)',
      timeoutFrom,
    )
    .option(MEMORY_BUDGET.flags, MEMORY_BUDGET.description, memorySizeFrom)
    .addOption(new Option(LOG_FORMAT_FLAG.flags, LOG_FORMAT_FLAG.description).choices(LOG_FORMATS))
    .option('--debug', 'log more')
    .addHelpText(
      'after',
      `
Usual places: in this folder .mcp.json, mcp.json, .vscode/mcp.json, .cursor/mcp.json, .zed/settings.json, .codex/config.toml; then the
files of the user: Claude Code (~/.claude.json), Claude Desktop, Cursor, VS Code, Windsurf, Zed, Codex.
A file of this folder that you do not name is served after you agree to it on the terminal, once for each content; with --stdio the
answer must exist.

Examples:
  toolmgr up
  toolmgr up .mcp.json --watch
  toolmgr up .mcp.json --stdio
  toolmgr up --client cursor
  toolmgr up --all --timeout 30m
  toolmgr up ~/.cursor/mcp.json --port 4500`,
    )
    .action(async (file: string | undefined, options) => (await import('./serve.ts')).up(file, options));
}

function timeoutFrom(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined && ms > 0 && ms <= LONGEST_CALL_MS) return Math.ceil(ms);
  throw new InvalidArgumentError('expected a duration above zero such as 30s or 5m, at most 24h');
}
