import { z } from 'zod';
import { GatewayFault } from '../errors.ts';
import { explainIssues } from '../extension/explain-issues.ts';
import { HTTP_CLIENTS } from '../http1/choose-client.ts';
import { limitsSchema } from '../limits.ts';
import { passthroughProblem } from '../pipeline/passthrough-headers.ts';

const passthroughHeader = z.string().superRefine((header, context) => {
  const message = passthroughProblem(header);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const strategyUse = z.strictObject({
  type: z.string().min(1).describe('name in the slot authStrategies, e.g. `header_injection`'),
  options: z.unknown().optional().describe("the strategy's own options"),
});

/**
 * The one currency of the hosts: what to load and how to wire it. Hosts make it from flags, YAML or a resource;
 * everything after it is the same gateway.
 */
export const planSchema = z.strictObject({
  name: z.string().min(1).default('toolmgr-vmcp').describe('server name in serverInfo, logs and audit'),
  version: z.string().default('0.1.0').describe('server version in serverInfo'),
  plugins: z
    .array(
      z.strictObject({
        use: z
          .string()
          .min(1)
          .describe('catalogue address; for a custom plugin a path to its module, or the name of an installed package'),
        with: z.unknown().optional().describe("the plugin's configuration"),
      }),
    )
    .describe('in order: within one stage of a hook, earlier plugins run first'),
  outgoingAuth: z
    .strictObject({
      default: strategyUse.default({ type: 'unauthenticated' }).describe('for backends without an entry of their own'),
      backends: z.record(z.string(), strategyUse).default({}).describe('by backend name'),
    })
    .prefault({})
    .describe('how the gateway authenticates towards backends'),
  timeouts: z
    .strictObject({
      defaultMs: z.int().min(1).default(30_000).describe('for every backend without an entry of its own'),
      perWorkloadMs: z.record(z.string(), z.int().min(1)).default({}).describe('by backend name'),
    })
    .prefault({})
    .describe('time for one answer of a backend; progress starts it again, within limits.callTotalMs'),
  endpoint: z
    .strictObject({
      path: z.string().startsWith('/').default('/mcp').describe('where MCP is served'),
      allowedHosts: z
        .array(z.string())
        .optional()
        .describe('Host header names served; default: loopback names when bound to loopback, any otherwise'),
      allowedOrigins: z.array(z.string()).default([]).describe('exact Origin values served besides loopback ones'),
      loopback: z.boolean().default(true).describe('bound to loopback: Host must be a loopback name'),
      strictProtocolVersion: z
        .boolean()
        .default(true)
        .describe('requests of a session whose MCP-Protocol-Version names no known revision get 400'),
    })
    .prefault({})
    .describe('the client-facing side'),
  passthroughHeaders: z
    .array(passthroughHeader)
    .default([])
    .describe('headers of clients that travel on to every backend; headers of the connection and credentials never do'),
  httpClient: z
    .enum(HTTP_CLIENTS)
    .default('own')
    .describe('sends requests to HTTP backends: `own` is the client of the core, `undici` needs the package undici'),
  maxToolNameLength: z
    .int()
    .min(16)
    .optional()
    .describe('longer tool names get a short form, the same every time; default: no bound'),
  stateKey: z
    .string()
    .min(32)
    .optional()
    .describe('secret behind sealed requestState; the same on all replicas; default: random at boot'),
  sessionStorage: z
    .strictObject({
      store: z.string().min(1).describe('name in the slot stores, e.g. `redis`'),
    })
    .optional()
    .describe('where legacy sessions are kept for all replicas; default: each gateway has its own'),
  limits: limitsSchema.prefault({}).describe('every bound of the gateway'),
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
