import { isObject } from '@toolmgr/core';
import { mcpToolConfig } from '../kinds/mcp-tool-config.ts';
import type { Context, Section } from './context.ts';
import { withoutUndefined } from './strategy.ts';

/** `aggregation` of the vmcp file, without references. `undefined`: a check failed. */
export function aggregationOf(context: Context): Section | undefined {
  const given = context.spec.config?.aggregation;
  if (!isObject(given)) return {};
  const { tools } = given;
  if (!Array.isArray(tools)) return given;
  const overridden: string[] = [];
  const resolved = tools.map((each: unknown, index) => resolveTools(each, index, overridden, context));
  if (overridden.length > 0) {
    const message = `filter and overrides are ignored where toolConfigRef is set: ${overridden.join(', ')}`;
    context.findings.tell('ToolConfigRefPrecedence', 'True', 'InlineSettingsIgnored', message);
  }
  if (resolved.some((each) => each === undefined)) return undefined;
  return { ...given, tools: resolved };
}

/** The settings of one workload; those of the referenced MCPToolConfig replace filter and overrides. */
function resolveTools(given: unknown, index: number, overridden: string[], context: Context): unknown {
  if (!isObject(given) || !isObject(given.toolConfigRef)) return given;
  const { toolConfigRef, filter, overrides, ...rest } = given;
  const at = `spec.config.aggregation.tools[${index}]`;
  const { name } = toolConfigRef;
  if (typeof name !== 'string' || name === '') {
    context.findings.fail('Valid', 'ValidationFailed', `${at}.toolConfigRef.name: missing, expected a name`);
    return undefined;
  }
  const found = context.lookups.find(mcpToolConfig, name, `${at}.toolConfigRef`);
  if (found.is !== 'valid') {
    context.findings.fail('Valid', 'ValidationFailed', found.message);
    return undefined;
  }
  if (filter !== undefined || overrides !== undefined) overridden.push(at);
  const { toolsFilter, toolsOverride } = found.spec;
  const isEmpty = toolsFilter?.length === 0;
  return withoutUndefined({ ...rest, filter: isEmpty ? undefined : toolsFilter, overrides: toolsOverride });
}
