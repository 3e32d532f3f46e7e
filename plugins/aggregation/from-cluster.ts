import { isObject } from '@toolmgr/core';
import { type ClusterServer, type FromCluster, requires } from '@toolmgr/plugins/kit/kubernetes';

const OVERRIDES = 'tools.[].overrides.*';

/** Source: vmcp spec §2 aggregation. */
export const rules: FromCluster['rules'] = {
  within: {
    '': {
      rules: [
        {
          rule: "(self.conflictResolution == 'priority') == (has(self.conflictResolutionConfig) && has(self.conflictResolutionConfig.priorityOrder) && size(self.conflictResolutionConfig.priorityOrder) > 0)",
          message: 'priorityOrder must be set when conflictResolution is priority, and only then',
          fieldPath: '.conflictResolutionConfig',
        },
        requires(
          'tools',
          "self.conflictResolution == 'manual'",
          'tools are required when conflictResolution is manual',
        ),
      ],
    },
    'conflictResolutionConfig.prefixFormat': { pattern: '^([^{}]|[{]workload[}])*$' },
    tools: { listMapKeys: ['workload'] },
    [OVERRIDES]: { minProperties: 1 },
    [`${OVERRIDES}.annotations`]: { minProperties: 1 },
  },
};

/** Settings of tools that an object has take the place of their reference. */
export const section: FromCluster['section'] = {
  async of(written, server) {
    if (!isObject(written)) return { section: {} };
    const { tools } = written;
    if (!Array.isArray(tools)) return { section: written };
    const overridden: string[] = [];
    const resolved: unknown[] = [];
    for (const [index, each] of tools.entries()) resolved.push(await resolveTools(each, index, overridden, server));
    if (overridden.length > 0) {
      const message = `filter and overrides are ignored where toolConfigRef is set: ${overridden.join(', ')}`;
      server.tell('ToolConfigRefPrecedence', 'True', 'InlineSettingsIgnored', message);
    }
    return resolved.includes(undefined) ? undefined : { section: { ...written, tools: resolved } };
  },
};

/** What is read here of an MCPToolConfig. */
interface ToolConfig {
  readonly toolsFilter?: readonly string[];
  readonly toolsOverride?: object;
}

/** The settings of one workload; those of the referenced MCPToolConfig replace filter and overrides. */
async function resolveTools(
  given: unknown,
  index: number,
  overridden: string[],
  server: ClusterServer,
): Promise<unknown> {
  if (!isObject(given) || !isObject(given.toolConfigRef)) return given;
  const { toolConfigRef, filter, overrides, ...rest } = given;
  const at = `spec.config.aggregation.tools[${index}]`;
  const { name } = toolConfigRef;
  if (typeof name !== 'string' || name === '') {
    server.fail('Valid', 'ValidationFailed', `${at}.toolConfigRef.name: missing, expected a name`);
    return undefined;
  }
  const found = await server.find('MCPToolConfig', name, `${at}.toolConfigRef`);
  if (found.is !== 'valid') {
    server.fail('Valid', 'ValidationFailed', found.message);
    return undefined;
  }
  if (filter !== undefined || overrides !== undefined) overridden.push(at);
  const { toolsFilter = [], toolsOverride } = found.spec as ToolConfig;
  return {
    ...rest,
    ...(toolsFilter.length === 0 ? {} : { filter: toolsFilter }),
    ...(toolsOverride === undefined ? {} : { overrides: toolsOverride }),
  };
}
