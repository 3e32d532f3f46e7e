import type { PlanPart, StrategyUse } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** The members of a listed backend that are read here. */
interface ListedBackend {
  readonly name: string;
  readonly transport: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly headersEnv?: Readonly<Record<string, string>>;
}

/** `backends`: without any, the file serves the workloads of its group. */
export const contract: ClusterReader = {
  facts: (backends: readonly ListedBackend[]) => ({
    backends: backends.map(({ name, transport, type, headers, headersEnv }) => ({
      name,
      isProgram: transport === 'stdio',
      isRemote: type === 'entry',
      ...(hasHeaders({ headers, headersEnv })
        ? { strategyAround: (after: StrategyUse) => withHeaders({ headers, headersEnv, after }) }
        : {}),
    })),
  }),
  fromContract(backends: readonly ListedBackend[] = [], { group }, use): PlanPart {
    if (backends.length === 0) return {};
    const forwards = backends.some(hasHeaders) ? [{ use: 'outgoing-auth/forward-headers' }] : [];
    return { plugins: [{ use, with: { group, backends } }, ...forwards] };
  },
  overview: (_section, { backends: { length }, group }) => ({
    key: 'backends',
    label: 'backends',
    value: length,
    ...(length === 0 ? { text: `the running workloads of group ${group}` } : {}),
  }),
  initial: (running) => running,
  fromCluster: () => import('./from-cluster.ts'),
};

interface Headers {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly headersEnv?: Readonly<Record<string, string>> | undefined;
}

function hasHeaders({ headers = {}, headersEnv = {} }: Headers): boolean {
  return Object.keys(headers).length + Object.keys(headersEnv).length > 0;
}

/** Fixed headers are set after the strategy of the backend. */
function withHeaders({ headers = {}, headersEnv = {}, after }: Headers & { readonly after: StrategyUse }): StrategyUse {
  return { type: 'forward_headers', options: { headers, headersEnv, after } };
}
