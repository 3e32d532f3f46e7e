import { ownCommand } from '../own-command.ts';
import { UsageError } from '../usage-error.ts';
import { type GatewayRecord, readRunning } from './gateway-record.ts';

/** No gateway runs, or none that was meant. */
export class NoGateway extends UsageError {}

/**
 * The gateway that a command is for: the one that `which` names, or the only one. Without `which`, a gateway with a URL precedes those
 * that a client started for itself over stdio.
 * @throws NoGateway · UsageError that lists the gateways when it is not clear which one is meant
 */
export async function chooseGateway(which: string | undefined, folder?: string): Promise<GatewayRecord> {
  const found = matching(await readRunning(folder), which);
  const listening = which === undefined ? found.filter(({ url }) => url !== undefined) : [];
  return oneOf(listening.length > 0 ? listening : found, which);
}

/** The gateways that `which` names; all of them without it. Pure. */
export function matching(running: readonly GatewayRecord[], which: string | undefined): readonly GatewayRecord[] {
  if (which === undefined) return running;
  return running.filter(({ name, url, process: { pid } }) => {
    const words = [name, String(pid)];
    if (url === undefined || !URL.canParse(url)) return words.includes(which);
    const { port, origin } = new URL(url);
    return [...words, port, origin, `${origin}/`, url].includes(which);
  });
}

/** Exactly one gateway. @throws NoGateway · UsageError */
export function oneOf(found: readonly GatewayRecord[], which: string | undefined): GatewayRecord {
  const [first] = found;
  if (first === undefined) {
    throw new NoGateway(
      which === undefined
        ? `no gateway runs; start one: ${ownCommand('up')}, or ${ownCommand('vmcp serve -c FILE')}`
        : `no gateway ${which} runs; ${ownCommand('status')} lists them`,
    );
  }
  if (found.length === 1) return first;
  throw new UsageError(`several gateways run; choose one:\n${found.map((one) => `  ${choiceOf(one)}`).join('\n')}`);
}

/** How a gateway is chosen, and what it serves. */
export function choiceOf({ name, url = '', kind, file, process: { pid } }: GatewayRecord): string {
  const port = URL.canParse(url) ? new URL(url).port : '';
  return `--gateway ${port || pid}  ${name} (${[kind, file].filter(Boolean).join(' ')})${url === '' ? '' : `  ${url}`}`;
}
