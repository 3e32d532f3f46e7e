import { z } from 'zod';

/** What prefixes names where nothing else is said. */
export const DEFAULT_PREFIX = '{workload}_';

const name = z.string().min(1);

const annotations = z
  .strictObject({
    title: z.string().optional().describe('title for people'),
    readOnlyHint: z.boolean().optional().describe('the tool changes nothing'),
    destructiveHint: z.boolean().optional().describe('the tool may destroy something'),
    idempotentHint: z.boolean().optional().describe('calling twice is as good as once'),
    openWorldHint: z.boolean().optional().describe('the tool reaches beyond its own world'),
  })
  .refine(hasMembers, { error: 'name at least one annotation, or leave annotations out', when: isReadable });

const override = z
  .strictObject({
    name: name.optional().describe('the name used from here on everywhere; the backend is called with its own'),
    description: z.string().optional().describe('the description that clients read'),
    annotations: annotations.optional().describe('annotation fields to set; those not named stay'),
  })
  .refine(hasMembers, { error: 'an override needs a name, a description or annotations', when: isReadable });

const workloadTools = z.strictObject({
  workload: name.describe('name of the backend this entry is about'),
  excludeAll: z.boolean().default(false).describe('hides all tools of the workload; they stay routable inside'),
  filter: z
    .array(name)
    .min(1, 'an empty filter would hide everything: use excludeAll for that, or leave filter out')
    .optional()
    .describe('tools that are advertised, by overridden or original name; others are hidden and stay routable inside'),
  overrides: z.record(name, override).default({}).describe("new faces for tools, by the backend's own tool name"),
  toolConfigRef: z
    .strictObject({ name: name.describe('name of the MCPToolConfig') })
    .optional()
    .describe('MCPToolConfig that replaces filter and overrides; cluster only'),
});

const fields = z.strictObject({
  conflictResolution: z
    .enum(['prefix', 'priority', 'manual'])
    .default('prefix')
    .describe('prefix: every name gets its prefix; priority: priorityOrder decides; manual: overrides must leave none'),
  conflictResolutionConfig: z
    .strictObject({
      prefixFormat: z
        .string()
        .default(DEFAULT_PREFIX)
        .describe('put before names, `{workload}` being the name of the backend; empty means the default'),
      priorityOrder: z.array(name).optional().describe('workloads, best first; only with conflictResolution priority'),
    })
    .prefault({})
    .describe('how conflictResolution does it'),
  excludeAllTools: z
    .boolean()
    .default(false)
    .describe('hides all backend tools from tools/list; they stay routable inside'),
  tools: z.array(workloadTools).default([]).describe('per workload: what is advertised, and how'),
});

/** Source: VirtualMCPServer `spec.config.aggregation`. */
export const aggregationConfig = fields.superRefine((config, context) => {
  for (const { path, message } of problemsOf(config)) context.addIssue({ code: 'custom', path: [...path], message });
});

/** The configuration with its defaults. */
export type AggregationConfig = z.output<typeof aggregationConfig>;

/** What one workload's entry says. */
export type WorkloadTools = AggregationConfig['tools'][number];

/** New members of one tool's definition. */
export type Override = WorkloadTools['overrides'][string];

function hasMembers(value: object): boolean {
  return Object.keys(value).length > 0;
}

/** A misspelt member is its own message; that nothing else is there would only be noise. */
function isReadable({ issues }: { readonly issues: readonly unknown[] }): boolean {
  return issues.length === 0;
}

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

function problemsOf(config: z.output<typeof fields>): readonly Problem[] {
  return [...strategyProblems(config), ...prefixProblems(config), ...toolsProblems(config.tools)];
}

function strategyProblems({ conflictResolution, conflictResolutionConfig, tools }: z.output<typeof fields>): Problem[] {
  const { priorityOrder } = conflictResolutionConfig;
  const path = ['conflictResolutionConfig', 'priorityOrder'];
  if (conflictResolution === 'manual' && tools.length === 0) {
    return [{ path: ['tools'], message: 'conflictResolution manual needs overrides in tools' }];
  }
  if (conflictResolution === 'manual' && priorityOrder === undefined) return repeatedNames(tools);
  if (conflictResolution === 'priority') {
    const isOrdered = priorityOrder !== undefined && priorityOrder.length > 0;
    return isOrdered ? [] : [{ path, message: 'conflictResolution priority needs at least one workload here' }];
  }
  return priorityOrder === undefined
    ? []
    : [{ path, message: `only conflictResolution priority uses it, got ${conflictResolution}` }];
}

/** Overrides that give two tools one name: under `manual` a conflict for sure, whatever the backends list. */
function repeatedNames(tools: readonly z.output<typeof workloadTools>[]): Problem[] {
  const givenBy = new Map<string, string>();
  return tools.flatMap(({ workload, overrides }, index) =>
    Object.entries(overrides).flatMap(([original, { name: given }]) => {
      if (given === undefined) return [];
      const first = givenBy.get(given);
      if (first === undefined) {
        givenBy.set(given, `${workload}.${original}`);
        return [];
      }
      const path = ['tools', index, 'overrides', original, 'name'];
      return [
        { path, message: `${first} is named "${given}" already; conflictResolution manual needs distinct names` },
      ];
    }),
  );
}

function prefixProblems({ conflictResolutionConfig }: z.output<typeof fields>): Problem[] {
  const rest = conflictResolutionConfig.prefixFormat.replaceAll('{workload}', '');
  if (!/[{}]/.test(rest)) return [];
  return [
    { path: ['conflictResolutionConfig', 'prefixFormat'], message: 'the only placeholder is {workload}, spelled so' },
  ];
}

function toolsProblems(tools: readonly z.output<typeof workloadTools>[]): Problem[] {
  return tools.flatMap(({ workload, toolConfigRef }, index) => {
    const problems: Problem[] = [];
    if (tools.findIndex((other) => other.workload === workload) < index) {
      problems.push({ path: ['tools', index, 'workload'], message: `${workload} has an entry already` });
    }
    if (toolConfigRef !== undefined) {
      const message = 'only the operator can read an MCPToolConfig: outside a cluster write filter and overrides here';
      problems.push({ path: ['tools', index, 'toolConfigRef'], message });
    }
    return problems;
  });
}
