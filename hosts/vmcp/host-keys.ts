import { FIELD_NAME, type FileFacts, type PlanInput, planSchema, restrictedHeaderPattern } from '@toolmgr/core';
import type { Addition } from '@toolmgr/plugins/kit/kubernetes';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';
import { CALLERS, choicesOf } from './choices.ts';
import { MAX_PLUGIN_ADDRESS, MAX_PLUGINS, PLUGIN_RULE } from './plugin-address.ts';
import { hasKey, lastKey, type Section, STRATEGIES } from './sections.ts';
import { statusPagesSchema } from './status-pages-schema.ts';

/** A key of a vmcp file that the host reads itself. */
export interface HostKey {
  /** Its schema, or how it is made of the sections of plugins that are in it. */
  readonly schema: z.ZodType | ((sections: readonly Section[]) => z.ZodType);
  /** Read as it is written, and checked with this schema, whose defaults are those of the plan. */
  readonly checked?: z.ZodType;
  /** What the plan gets: a member of the same name, or what is made of the value. A value that is empty sets nothing. */
  readonly plan?: true | ((value: never) => Partial<PlanInput>);
  /** Why the key is refused in a file; a VirtualMCPServer may have it. */
  readonly refused?: string;
  /** What is probably a mistake. */
  readonly warning?: (facts: FileFacts) => string | undefined;
  /** What it gets in `spec.config` of a VirtualMCPServer, which has every key of the host, by path below the key. */
  readonly inCluster?: Readonly<Record<string, Addition>>;
  /** Texts of the documentation by path below the key, where no schema has one; `*` is a name that the file chooses. */
  readonly means?: Readonly<Record<string, string>>;
}

const name = z.string().min(1, 'expected a name that is not empty');

const { limits, endpoint, httpClient, passthroughHeaders, maxToolNameLength } = planSchema.shape;

/** The name of a header of callers that backends get, in objects. */
export const HEADER_NAME = {
  pattern: FIELD_NAME.source,
  minLength: 1,
  maxLength: 256,
  rules: [
    {
      rule: `!self.matches('${restrictedHeaderPattern()}')`,
      message: 'is a restricted header: one of the connection, of the origin, or a credential',
      reason: 'FieldValueForbidden',
    },
  ],
} as const satisfies Addition;

const timeouts = z.strictObject({
  default: goDuration.optional(),
  perWorkload: z.record(z.string(), goDuration).optional(),
});
const operational = z.strictObject({ logLevel: z.enum(['debug']).optional(), timeouts: timeouts.optional() });

/** Every key of a vmcp file that is no section of a plugin: a new one is a row here, and a member of the plan if it sets one. */
export const HOST_KEYS = {
  name: { schema: name, plan: true, means: { '': 'name of the gateway in logs, metrics and the page' } },
  groupRef: {
    schema: name,
    means: {
      '': 'group of workloads whose servers are served; the label `group` of the backends when they are listed',
    },
  },
  metadata: {
    schema: z.record(z.string(), z.string()).optional(),
    means: { '': 'labels of the operator; the gateway does not read them' },
  },
  compositeToolRefs: {
    schema: z.array(z.strictObject({ name: z.string() })).optional(),
    refused: 'refers to cluster resources and works only under the operator',
    inCluster: { '': { listMapKeys: ['name'] } },
    means: {
      '': 'composite tools of the cluster; only a file in Kubernetes has them',
      '[].name': 'name of a `VirtualMCPCompositeToolDefinition` in the same namespace',
    },
  },
  passthroughHeaders: {
    schema: passthroughHeaders.optional(),
    plan: true,
    warning({ backends }) {
      const remote = backends.filter(({ isRemote }) => isRemote).map((backend) => backend.name);
      if (remote.length === 0) return undefined;
      return `values from clients are also sent to the remote servers: ${remote.join(', ')}`;
    },
    inCluster: { '': { maxItems: 100, listType: 'set' }, '.[]': HEADER_NAME },
  },
  // not of the contract
  plugins: {
    schema: z.array(z.strictObject({ use: name, with: z.unknown().optional() })).optional(),
    inCluster: {
      '': { maxItems: MAX_PLUGINS },
      '.[].use': { maxLength: MAX_PLUGIN_ADDRESS, rules: [PLUGIN_RULE] },
    },
    means: {
      '': 'plugins that have no section of their own, and your plugins',
      '[].use': 'address of a plugin of the catalogue, path that begins with `./`, or name of a package',
      '[].with': 'configuration of this plugin',
    },
  },
  limits: {
    schema: z.unknown().optional() as z.ZodOptional<z.ZodType<PlanInput['limits'], PlanInput['limits']>>,
    checked: limits.unwrap(),
    plan: true,
    means: { '': 'named limits of the gateway; all have defaults' },
  },
  endpoint: {
    schema: endpoint.unwrap().omit({ loopback: true }).optional(),
    plan: true,
    means: { '': 'address and protection of the MCP endpoint' },
  },
  httpClient: {
    schema: httpClient.unwrap().optional(),
    plan: true,
    means: {
      '': 'client of HTTP backends: `own` is the default and is faster, `undici` is the client of Node',
    },
  },
  maxToolNameLength: { schema: maxToolNameLength, plan: true },
  statusPages: {
    schema: statusPagesSchema.optional(),
    means: { '': 'protects the pages that name backends and tools' },
  },
  incomingAuth: {
    schema: (sections) => choiceIn(sections, CALLERS).optional(),
    means: {
      '': 'how callers prove who they are, and what they may do',
      '.type': '`anonymous` asks nothing, `local` names the user of the machine, `oidc` checks a token',
    },
  },
  outgoingAuth: {
    schema(sections) {
      const strategy = choiceIn(sections, STRATEGIES);
      return z.strictObject({
        source: z.enum(['inline', 'discovered']),
        default: strategy.optional(),
        backends: z.record(z.string(), strategy).optional(),
      });
    },
    means: {
      '': 'credentials that the gateway sends to backends',
      '.source': '`inline` uses only this file, `discovered` also uses what the cluster says about a backend',
      '.default': 'strategy of backends that have none of their own; default: `unauthenticated`',
      '.backends': 'strategies by name of the backend',
      '.backends.*': 'strategy of one backend',
    },
  },
  operational: {
    schema: (sections) => operational.extend(keysIn(sections, 'operational') as Record<never, never>).optional(),
    plan: ({ timeouts: given }: z.output<typeof operational>) =>
      given === undefined ? {} : { timeouts: timeoutsOf(given) },
    means: {
      '': 'times, health checks and the level of the log',
      '.logLevel': '`debug` logs more; without it the level of the command line is used',
      '.timeouts': 'how long a call may take',
      '.timeouts.default': 'of each call that has no time of its own, such as `30s`',
      '.timeouts.perWorkload': 'times by name of the backend',
    },
  },
} as const satisfies Readonly<Record<string, HostKey>>;

/** A section that a plugin's schema reads: kept as written here, checked in `section-problems.ts`. */
const owned = z.unknown();

/** The rows with their keys. */
export const hostKeys = Object.entries<HostKey>(HOST_KEYS);

/** The rows of the keys that a file has, with their values. An empty object or list counts as absent. */
export function givenKeys(file: object): readonly (readonly [string, HostKey, unknown])[] {
  return hostKeys
    .map(([key, row]) => [key, row, (file as Readonly<Record<string, unknown>>)[key]] as const)
    .filter(([, , value]) => (typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : value !== undefined));
}

/** One column of the table as a map by path in the file. */
export function byPath<Cell>(
  column: (row: HostKey) => Readonly<Record<string, Cell>> | undefined,
): Readonly<Record<string, Cell>> {
  return Object.fromEntries(
    hostKeys.flatMap(([key, row]) =>
      Object.entries(column(row) ?? {}).map(([path, cell]): [string, Cell] => [key + path, cell]),
    ),
  );
}

/** A section whose `type` is one of the choices, with the keys of their options. */
function choiceIn(sections: readonly Section[], of: string) {
  return z.strictObject({ type: z.enum(choicesOf(sections, of).map(({ type }) => type)), ...keysIn(sections, of) });
}

/** The keys of sections inside another one. */
function keysIn(sections: readonly Section[], outer: string): Record<string, z.ZodType> {
  const inner = sections.filter(hasKey).filter(({ contractKey }) => contractKey.startsWith(`${outer}.`));
  return Object.fromEntries(inner.map((section) => [lastKey(section), owned.optional()]));
}

function timeoutsOf(given: z.output<typeof timeouts>): NonNullable<PlanInput['timeouts']> {
  return {
    ...(given.default === undefined ? {} : { defaultMs: given.default }),
    ...(given.perWorkload === undefined ? {} : { perWorkloadMs: given.perWorkload }),
  };
}
