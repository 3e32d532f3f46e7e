import { type Command, Option } from 'commander';
import { ALLOWED_ORIGINS, readOrigins } from '../shared/allowed-origins.ts';
import { LOG_FORMAT_FLAG, LOG_FORMATS } from '../shared/gateway-log/log-format.ts';
import { MEMORY_BUDGET, memorySizeFrom } from '../shared/memory-budget.ts';
import { portFrom } from '../shared/port-option.ts';

/** Adds `toolmgr serve`. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the workload manager: an HTTP API for workloads, registries, secrets, clients and skills')
    .option(
      '--config <file>',
      'YAML file with plugins of the manager (default: manager.yaml beside config.yaml, when there is one)',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on, 0 for any', portFrom, 8080)
    .option('--socket <path>', 'unix socket to listen on instead, for this user and the group of the file')
    .option('--allow-host <name...>', 'more names that clients may use in the URL, e.g. behind a proxy')
    .option(ALLOWED_ORIGINS.flags, ALLOWED_MCP_ORIGINS, readOrigins)
    .option(
      '--open-registry',
      'serve the registry listing (/registry/…) without a token, for MCP clients that cannot send one',
    )
    .option('--open', 'open the page in the browser; when a manager runs, its page')
    .option(
      '--mcp-without-confirmation',
      'tools of /mcp/manager that destroy something do not ask first, for clients without elicitation',
    )
    .option('--oidc-issuer <url>', 'also accept tokens of this OpenID Connect issuer, for shared installations')
    .option('--oidc-audience <name>', 'audience that these tokens must have')
    .option('--oidc-client-id <id>', 'client id for introspection')
    .option(
      '--oidc-client-secret-file <file>',
      'file with the client secret for introspection (default: the variable TOOLMGR_OIDC_CLIENT_SECRET)',
    )
    .option('--oidc-introspection-url <url>', 'introspection endpoint, for opaque tokens')
    .option('--oidc-jwks-url <url>', 'URL of the keys (default: from the discovery of the issuer)')
    .option('--oidc-scopes <list>', 'scopes named to MCP clients, comma-separated (default: openid)', listFrom)
    .option('--oidc-insecure-allow-http', 'allow http URLs of the issuer, for development')
    .option('--jwks-allow-private-ip', 'allow private addresses of the issuer')
    .option(MEMORY_BUDGET.flags, MEMORY_BUDGET.description, memorySizeFrom)
    .addOption(new Option(LOG_FORMAT_FLAG.flags, LOG_FORMAT_FLAG.description).choices(LOG_FORMATS))
    .option('--debug', 'log more')
    .option('--install', 'start it now and at each login, with these options: systemd user unit, or launchd agent')
    .option('--uninstall', 'remove what --install has written; workloads run on')
    .option('--status', 'show whether it is installed and runs; exit code 1 when no manager runs')
    .addHelpText(
      'after',
      `
The token of local callers is in server/token of the state folder. On a unix socket no token is needed.

Examples:
  toolmgr serve
  toolmgr serve --open
  toolmgr serve --install
  toolmgr serve --socket ~/.local/state/toolmgr/server/api.sock`,
    )
    .action(async (options, command: Command) => {
      if (options.install || options.uninstall || options.status) {
        return (await import('./install/commands.ts')).installCommand(command);
      }
      return (await import('./serve.ts')).serve(options);
    });
}

const ALLOWED_MCP_ORIGINS =
  'origins of pages that may use the MCP endpoints (/mcp/…), comma-separated, besides the page of the manager (default: MCP Inspector at http://localhost:6274)';

function listFrom(text: string): readonly string[] {
  return text.split(',').map((one) => one.trim());
}
