import { chooseGateway, matching, oneOf } from '../../shared/running/choose-gateway.ts';
import { type GatewayRecord, readRunning } from '../../shared/running/gateway-record.ts';
import { UsageError } from '../../shared/usage-error.ts';

const DEFAULT_URL = 'http://127.0.0.1:4483/mcp';
const DEFAULT_PORT = new URL(DEFAULT_URL).port;

/** The endpoint of a command. */
export interface ChosenEndpoint {
  readonly url: string;
  /** Its record, when it is a gateway of this user on this machine. */
  readonly record: GatewayRecord | undefined;
}

/**
 * The endpoint that a command is for: the URL or the running gateway that the user names; otherwise the gateway at the default port;
 * otherwise the only one that listens. Without any it is the default URL, where a gateway without a record may listen, e.g. one in a
 * container.
 * @throws NoGateway · UsageError that lists the gateways when it is not clear which one is meant
 */
export async function chooseEndpoint(
  { url, gateway }: { readonly url?: string | undefined; readonly gateway?: string | undefined },
  folder?: string,
): Promise<ChosenEndpoint> {
  if (gateway !== undefined) return endpointOf(await chooseGateway(gateway, folder));
  const running = await readRunning(folder).catch(() => []);
  if (url !== undefined) {
    const asUsual = url.replace('//localhost', '//127.0.0.1');
    return { url, record: matching(running, asUsual)[0] };
  }
  const listening = running.filter((record) => record.url !== undefined);
  const atDefault = listening.find(({ url: its = '' }) => URL.parse(its)?.port === DEFAULT_PORT);
  if (atDefault !== undefined) return endpointOf(atDefault);
  return listening.length === 0 ? { url: DEFAULT_URL, record: undefined } : endpointOf(oneOf(listening, undefined));
}

function endpointOf(record: GatewayRecord): ChosenEndpoint {
  const { url, name } = record;
  if (url === undefined) throw new UsageError(`gateway ${name} serves one client over stdio and has no URL`);
  return { url, record };
}
