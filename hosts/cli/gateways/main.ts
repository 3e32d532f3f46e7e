import { durationMs } from '@toolmgr/plugins/kit/settings';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { GATEWAY_FLAG, GATEWAY_HELP } from '../../shared/running/gateway-flag.ts';

/** Adds `toolmgr wait`. `status`, `restart` and `logs` are beside those of workloads, in `hosts/run`. */
export function addGatewayCommands(program: Command): void {
  program
    .command('wait')
    .argument('[backend...]', 'names of backends; without names all')
    .description('wait until a gateway is running and its backends are ready')
    .addOption(new Option('--timeout <duration>', 'longest time to wait').argParser(timeoutFrom).default(60_000, '1m'))
    .option('-a, --all', 'all backends, as without names')
    .option(GATEWAY_FLAG, GATEWAY_HELP)
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      `
Examples:
  toolmgr up .mcp.json & toolmgr wait && toolmgr call memory_read_graph
  toolmgr wait github memory --timeout 5m

Exit codes: 0 ready; 10 the time is over, and backends are still tried; 11 a backend failed, and another attempt does not help;
12 no gateway runs.`,
    )
    .action(async (names: string[], flags) => (await import('./wait.ts')).wait(names, flags));
}

function timeoutFrom(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined && ms >= 0) return Math.ceil(ms);
  throw new InvalidArgumentError('expected a duration such as 60s or 5m');
}
