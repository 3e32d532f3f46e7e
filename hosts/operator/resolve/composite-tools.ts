import { isObject } from '@toolmgr/core';
import { compositeToolDefinition } from '../kinds/composite-tool-definition.ts';
import type { Context } from './context.ts';

const CONDITION = 'CompositeToolRefsValidated';

/** The composite tools of the vmcp file, and where each referenced one comes from. */
export interface CompositeTools {
  readonly tools: readonly unknown[];
  /** Definition by index of `tools`. */
  readonly refOf: ReadonlyMap<number, string>;
}

/** Inline composite tools and referenced ones. `undefined`: a check failed. */
export function compositeToolsOf({ spec, lookups, findings }: Context): CompositeTools | undefined {
  const given = spec.config?.compositeTools;
  const inline: readonly unknown[] = Array.isArray(given) ? given : [];
  const refs = spec.config?.compositeToolRefs ?? [];
  const tools = [...inline];
  const refOf = new Map<number, string>();
  let isSound = true;
  const fail = (reason: string, message: string): void => {
    findings.fail(CONDITION, reason, message);
    isSound = false;
  };
  for (const [index, { name }] of refs.entries()) {
    const by = `spec.config.compositeToolRefs[${index}]`;
    const found = lookups.find(compositeToolDefinition, name, by);
    if (found.is !== 'valid') {
      fail(found.is === 'missing' ? 'CompositeToolRefNotFound' : 'CompositeToolRefInvalid', found.message);
      continue;
    }
    const { status, metadata } = found.object;
    const isCurrent = (status?.observedGeneration ?? metadata.generation) === metadata.generation;
    if (status?.validationStatus === 'Invalid' && isCurrent) {
      const why = (status.validationErrors ?? []).join('; ');
      fail('CompositeToolRefInvalid', `${by}: VirtualMCPCompositeToolDefinition ${name} is invalid: ${why}`);
      continue;
    }
    refOf.set(tools.length, name);
    tools.push(found.spec);
  }
  const twice = repeated(tools.flatMap((tool) => (isObject(tool) && typeof tool.name === 'string' ? [tool.name] : [])));
  if (twice.length > 0) {
    const message = `spec.config: several composite tools have one name: ${twice.join(', ')}`;
    if (refs.length > 0) fail('CompositeToolRefInvalid', message);
    else {
      findings.fail('Valid', 'ValidationFailed', message);
      isSound = false;
    }
  }
  if (!isSound) return undefined;
  if (refs.length > 0) {
    findings.tell(CONDITION, 'True', 'CompositeToolRefsValid', `${refs.length} referenced composite tools are valid`);
  }
  return { tools, refOf };
}

function repeated(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) < index))];
}
