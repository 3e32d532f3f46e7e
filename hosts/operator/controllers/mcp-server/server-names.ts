import { derivedName, MAX_STATEFUL_SET } from '../derived-name.ts';
import type { ProxyNames } from '../proxy/proxy-objects.ts';

/** Names of the objects of an MCPServer. */
export interface ServerNames extends ProxyNames {
  readonly statefulSet: string;
  /** The pod that a stdio proxy attaches to. */
  readonly pod: string;
  /** Service without an address: the pods of the server by name. */
  readonly headless: string;
  /** Service in front of several pods of the server. */
  readonly backends: string;
  /** Service account of the server, without rights. */
  readonly serverAccount: string;
  readonly networkPolicy: string;
}

/** Names for an MCPServer. Those that would be too long, or are no DNS label, are shortened and get a hash. */
export function serverNamesOf(name: string): ServerNames {
  const statefulSet = derivedName(name, { max: MAX_STATEFUL_SET });
  return {
    deployment: derivedName(name),
    service: derivedName(name, { prefix: 'mcp-', suffix: '-proxy' }),
    config: derivedName(name, { suffix: '-runconfig' }),
    account: derivedName(name, { suffix: '-proxy-runner' }),
    statefulSet,
    pod: `${statefulSet}-0`,
    headless: derivedName(name, { prefix: 'mcp-', suffix: '-headless' }),
    backends: derivedName(name, { prefix: 'mcp-', suffix: '-backends' }),
    serverAccount: derivedName(name, { suffix: '-sa' }),
    networkPolicy: derivedName(name, { suffix: '-mcp' }),
  };
}
