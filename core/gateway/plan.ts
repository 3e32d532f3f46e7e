import { z } from 'zod';
import { GatewayFault } from '../errors.ts';
import { explainIssues } from '../extension/explain-issues.ts';
import { HTTP_CLIENTS } from '../http1/choose-client.ts';
import { limitsSchema } from '../limits.ts';
import { passthroughProblem } from '../pipeline/passthrough-headers.ts';
import { isAddressOrNetwork } from '../server/http/client-address.ts';
import { DEFAULT_ORIGINS } from '../server/http/origin.ts';
import { pathPrefix } from '../server/http-sse/message-uri.ts';

const passthroughHeader = z.string().superRefine((header, context) => {
  const message = passthroughProblem(header);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const strategyUse = z.strictObject({
  type: z.string().min(1).describe('name in the slot authStrategies, e.g. `header_injection`'),
  options: z.unknown().optional().describe("the strategy's own options"),
});

/**
 * What to load and how to wire it. Hosts make a plan from flags, YAML or a resource; everything after it is the same.
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
    .describe('time limit for one response of a backend; progress restarts it, within limits.callTotalMs'),
  endpoint: z
    .strictObject({
      path: z.string().startsWith('/').default('/mcp').describe('path of MCP'),
      sse: z
        .strictObject({
          path: z.string().startsWith('/').default('/sse').describe('path of the event stream'),
          messagesPath: z.string().startsWith('/').default('/messages').describe('path to which clients POST messages'),
          prefix: z
            .string()
            .refine((text) => pathPrefix(text) !== undefined, {
              error: 'expected a path such as /tools/mine: it begins with /, without //, .., % and query',
            })
            .optional()
            .describe('put before messagesPath in the `endpoint` event; it wins over X-Forwarded-Prefix'),
          trustForwarded: z
            .boolean()
            .optional()
            .describe(
              'the `endpoint` event follows X-Forwarded-Proto, -Host, -Port and -Prefix; only behind a proxy that sets them; default: false',
            ),
        })
        .optional()
        .describe('serves the deprecated transport HTTP+SSE of 2024-11-05 too; default: not served'),
      allowedHosts: z
        .array(z.string())
        .optional()
        .describe('allowed Host header names; default: loopback names when bound to loopback, any otherwise'),
      allowedOrigins: z
        .array(z.string())
        .optional()
        .describe(
          `allowed Origin values of pages, exact, besides the origin of the gateway itself; default: those of MCP Inspector, ${DEFAULT_ORIGINS.map((origin) => `\`${origin}\``).join(' and ')}`,
        ),
      trustedProxies: z
        .array(z.string().refine(isAddressOrNetwork, 'expected an IP address, or a network such as 10.0.0.0/8'))
        .optional()
        .describe(
          'reverse proxies whose X-Forwarded-For names the client, for limits, logs and audit; they must append to it; default: none',
        ),
      postOnly: z
        .boolean()
        .optional()
        .describe('GET and DELETE get 405, for a server without sessions; default: false'),
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
    .describe(
      'headers of clients that are forwarded to every backend; headers of the connection and credentials are never forwarded',
    ),
  httpClient: z
    .enum(HTTP_CLIENTS)
    .default('own')
    .describe('sends requests to HTTP backends: `own` is the client of the core, `undici` needs the package undici'),
  maxToolNameLength: z
    .int()
    .min(16)
    .optional()
    .describe('longer tool names are shortened, always in the same way; default: no limit'),
  stateKey: z
    .string()
    .min(32)
    .optional()
    .describe('secret that seals requestState; must be equal on all replicas; default: random at boot'),
  sessionStorage: z
    .strictObject({
      store: z.string().min(1).describe('name in the slot stores, e.g. `redis`'),
    })
    .optional()
    .describe('stores legacy sessions for all replicas; default: each gateway has its own'),
  limits: limitsSchema.prefault({}).describe('limits of the gateway'),
});

/** A plan before defaults are applied. */
export type PlanInput = z.input<typeof planSchema>;
/** A plan with all defaults. */
export type Plan = z.output<typeof planSchema>;

/**
 * Parses a plan strictly.
 * @throws GatewayFault PLAN_INVALID with one line per problem: path, what is wrong, the nearest known key
 */
export function readPlan(input: unknown): Plan {
  const read = planSchema.safeParse(input);
  if (read.success) return read.data;
  throw new GatewayFault('PLAN_INVALID', explainIssues('plan', planSchema, read.error).join('\n'));
}
