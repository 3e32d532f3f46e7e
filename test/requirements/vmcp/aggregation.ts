import type { Section } from '../section.ts';

/** How many lists of tools become one. */
export const aggregation = [
  {
    source: 'vmcp spec §2 aggregation',
    says: {
      'vmcp.aggregation.conflict-resolution-enum': 'aggregation.conflictResolution takes prefix, priority or manual',
      'vmcp.aggregation.conflict-resolution-default': 'aggregation.conflictResolution is prefix by default',
      'vmcp.aggregation.prefix-format-default': 'conflictResolutionConfig.prefixFormat is {workload}_ by default',
      'vmcp.aggregation.prefix-format-placeholder': 'prefixFormat takes the placeholder {workload} in any form of it',
      'vmcp.aggregation.prefix-format-prompts': 'prefixFormat is also used for backend-prefixed prompt names',
      'vmcp.aggregation.priority-order':
        'conflictResolutionConfig.priorityOrder is string[] and orders workloads for priority',
      'vmcp.aggregation.priority-listed-prompts-bare': 'workloads listed in priorityOrder keep their own prompt names',
      'vmcp.aggregation.priority-unlisted-prompts-prefixed':
        'prompts of workloads that priorityOrder does not list stay prefixed',
      'vmcp.aggregation.exclude-all-tools': 'excludeAllTools hides all backend tools from tools/list',
      'vmcp.aggregation.exclude-all-tools-routable': 'excludeAllTools keeps the tools routable for composite tools',
      'vmcp.aggregation.tools-workload': 'tools[].workload is a required string',
      'vmcp.aggregation.tools-exclude-all': 'tools[].excludeAll is a boolean that hides all tools of the workload',
      'vmcp.aggregation.tools-filter': 'tools[].filter is string[] and an allow-list of what is advertised',
      'vmcp.aggregation.tools-filter-routable': 'tools outside the filter are hidden and stay routable',
      'vmcp.aggregation.tools-overrides': 'tools[].overrides maps a tool to name, description and annotations',
      'vmcp.aggregation.tools-overrides-before-conflicts': 'overrides are applied before conflict resolution',
      'vmcp.aggregation.tools-overrides-name-everywhere': 'the overridden name is used everywhere',
      'vmcp.aggregation.tools-overrides-annotations':
        'an override of annotations changes only the named annotation fields',
    },
  },
  {
    source: 'vmcp spec §2 aggregation',
    says: {
      'vmcp.aggregation.tool-config-ref':
        'tools[].toolConfigRef holds the required name of an MCPToolConfig, cluster only',
      'vmcp.aggregation.tool-config-ref-wins': 'with toolConfigRef set filter and overrides are ignored',
    },
  },
] as const satisfies readonly Section[];
