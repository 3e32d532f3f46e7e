import { z } from 'zod';

/** The default prefix of names. */
export const DEFAULT_PREFIX = '{workload}_';

const name = z.string().min(1);

const annotations = z
  .strictObject({
    title: z.string().optional().describe('title for people'),
    readOnlyHint: z.boolean().optional().describe('the tool only reads'),
    destructiveHint: z.boolean().optional().describe('the tool may delete or overwrite data'),
    idempotentHint: z.boolean().optional().describe('repeated calls have no further effect'),
    openWorldHint: z.boolean().optional().describe('the tool interacts with external systems'),
  })
  .refine(hasMembers, { error: 'name at least one annotation, or leave annotations out', when: isReadable });

const override = z
  .strictObject({
    name: name
      .optional()
      .describe('name for clients, policies and limits; the backend is called with its original name'),
    description: z.string().optional().describe('description that clients see'),
    annotations: annotations.optional().describe('annotation fields to set; others are unchanged'),
  })
  .refine(hasMembers, { error: 'an override needs a name, a description or annotations', when: isReadable });

const backendTools = z.strictObject({
  workload: name.describe('name of the backend'),
  excludeAll: z.boolean().default(false).describe('hides all tools of the backend; inner calls still reach them'),
  filter: z
    .array(name)
    .min(1, 'an empty filter would hide everything: use excludeAll for that, or leave filter out')
    .optional()
    .describe('advertised tools, by overridden or original name; others are hidden, but inner calls still reach them'),
  overrides: z
    .record(name, override)
    .default({})
    .describe('changes of tool definitions, by the original name of the tool'),
  toolConfigRef: z
    .strictObject({ name: name.describe('name of the MCPToolConfig') })
    .optional()
    .describe('MCPToolConfig that replaces filter and overrides; cluster only'),
});

const fields = z.strictObject({
  conflictResolution: z
    .enum(['prefix', 'priority', 'manual'])
    .default('prefix')
    .describe(
      'prefix: every name gets a prefix; priority: priorityOrder decides; manual: overrides must resolve all conflicts',
    ),
  conflictResolutionConfig: z
    .strictObject({
      prefixFormat: z
        .string()
        .default(DEFAULT_PREFIX)
        .describe('prefix of names; `{workload}` is the name of the backend; empty means the default'),
      priorityOrder: z
        .array(name)
        .optional()
        .describe('backends, highest priority first; only with conflictResolution priority'),
    })
    .prefault({})
    .describe('options of conflictResolution'),
  excludeAllTools: z
    .boolean()
    .default(false)
    .describe('hides all backend tools from tools/list; inner calls still reach them'),
  tools: z.array(backendTools).default([]).describe('settings per backend'),
});

/** Source: VirtualMCPServer `spec.config.aggregation`. */
export const aggregationConfig = fields.superRefine((config, context) => {
  for (const { path, message } of problemsOf(config)) context.addIssue({ code: 'custom', path: [...path], message });
});

/** The configuration with its defaults. */
export type AggregationConfig = z.output<typeof aggregationConfig>;

/** The settings of one backend. */
export type BackendTools = AggregationConfig['tools'][number];

/** New members of one tool's definition. */
export type Override = BackendTools['overrides'][string];

function hasMembers(value: object): boolean {
  return Object.keys(value).length > 0;
}

/** Skips this check when a member already has an error. */
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

/** Overrides that give two tools the same name, which is always a conflict under `manual`. */
function repeatedNames(tools: readonly z.output<typeof backendTools>[]): Problem[] {
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
  return [{ path: ['conflictResolutionConfig', 'prefixFormat'], message: 'the only placeholder is {workload}' }];
}

function toolsProblems(tools: readonly z.output<typeof backendTools>[]): Problem[] {
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
