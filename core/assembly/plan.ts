import { z } from 'zod';
import { GatewayFault } from '../errors.ts';
import { explainIssues } from '../extension/explain-issues.ts';
import { limitsSchema } from '../protocol/limits.ts';

const strategyUse = z.strictObject({
  type: z.string().min(1).describe('name in the slot authStrategies, e.g. `header_injection`'),
  options: z.unknown().optional().describe("the strategy's own options"),
});

/**
 * The one currency of the hosts: what to load and how to wire it. Hosts make it from flags, YAML or a resource;
 * everything after it is the same house.
 */
export const planSchema = z.strictObject({
  name: z.string().min(1).default('toolmgr-vmcp').describe('server name in serverInfo, logs and audit'),
  version: z.string().default('0.1.0').describe('server version in serverInfo'),
  plugins: z
    .array(
      z.strictObject({
        use: z.string().min(1).describe('catalogue address, or a path to a module for a custom plugin'),
        with: z.unknown().optional().describe("the plugin's configuration"),
      }),
    )
    .describe('in order: within one stage of a hook, earlier plugins run first'),
  outgoingAuth: z
    .strictObject({
      default: strategyUse.default({ type: 'unauthenticated' }),
      backends: z.record(z.string(), strategyUse).default({}),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      defaultMs: z.int().min(1).default(30_000),
      perWorkloadMs: z.record(z.string(), z.int().min(1)).default({}),
    })
    .prefault({}),
  endpoint: z
    .strictObject({
      path: z.string().startsWith('/').default('/mcp'),
      allowedHosts: z
        .array(z.string())
        .optional()
        .describe('Host header names served; default: loopback names when bound to loopback, any otherwise'),
      allowedOrigins: z.array(z.string()).default([]).describe('exact Origin values served besides loopback ones'),
      loopback: z.boolean().default(true).describe('bound to loopback: Host must be a loopback name'),
    })
    .prefault({}),
  passthroughHeaders: z.array(z.string()).default([]),
  maxToolNameLength: z.int().min(16).optional(),
  stateKey: z
    .string()
    .min(32)
    .optional()
    .describe('secret behind sealed requestState; the same on all replicas; default: random at boot'),
  limits: limitsSchema.prefault({}),
});

/** A plan as written. */
export type PlanInput = z.input<typeof planSchema>;
/** A plan with every default filled in. */
export type Plan = z.output<typeof planSchema>;

/**
 * Reads a plan strictly.
 * @throws GatewayFault PLAN_INVALID with one line per problem: path, what is wrong, the nearest known key
 */
export function readPlan(input: unknown): Plan {
  const read = planSchema.safeParse(input);
  if (read.success) return read.data;
  throw new GatewayFault('PLAN_INVALID', explainIssues('plan', planSchema, read.error).join('\n'));
}
