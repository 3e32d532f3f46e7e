import type { Call } from '@toolmgr/core';
import type { DataProtectionConfig } from './config.ts';
import { DETECTORS, type Detector } from './detectors.ts';

export type Direction = 'arguments' | 'results';
export type Action = 'mask' | 'block' | 'report';

/** What the rules say of one call and direction. */
export interface Scope {
  readonly direction: Direction;
  /** In the order of the table. */
  readonly detectors: readonly Detector[];
  readonly actions: ReadonlyMap<Detector, Action>;
  /** A rule masks or blocks: text that cannot be searched is not let through. */
  readonly isStrict: boolean;
}

interface CompiledRule {
  readonly direction: Direction;
  readonly backends: ReadonlySet<string> | undefined;
  readonly tools: ReadonlySet<string> | undefined;
  readonly detectors: readonly Detector[];
  readonly action: Action;
}

/** Finds the scope of a call; `undefined` when no rule is about it. Made once for each set of rules that fits some call. */
export function compileScopes({
  rules,
}: DataProtectionConfig): (call: Call, direction: Direction) => Scope | undefined {
  const compiled: readonly CompiledRule[] = rules.map(({ direction, backends, tools, detectors, action }) => ({
    direction,
    backends: backends && new Set(backends),
    tools: tools && new Set(tools),
    detectors: DETECTORS.filter(({ name, kind }) => detectors.includes(name) || detectors.includes(kind)),
    action,
  }));
  const known = new Map<string, Scope>();
  return (call, direction) => {
    let fitting = '';
    compiled.forEach((rule, index) => {
      if (rule.direction === direction && isAbout(rule, call)) fitting += `${index},`;
    });
    if (fitting === '') return undefined;
    const before = known.get(fitting);
    if (before !== undefined) return before;
    const made = scopeFrom(
      direction,
      fitting.split(',').flatMap((index) => compiled[Number.parseInt(index, 10)] ?? []),
    );
    known.set(fitting, made);
    return made;
  };
}

/**
 * A tool of the gateway itself (composite tool, `call_tool`, script) sends nothing to a backend: each call that it makes is looked at on
 * its own. Only a rule that names it is about it.
 */
function isAbout({ backends, tools }: CompiledRule, { method, name, target }: Call): boolean {
  if (backends !== undefined && !backends.has(target.backend)) return false;
  if (tools === undefined) return target.run === undefined;
  // the key, because an inner call may use another name of a tool
  return method === 'tools/call' && (tools.has(name) || tools.has(target.key));
}

function scopeFrom(direction: Direction, rules: readonly CompiledRule[]): Scope {
  const actions = new Map<Detector, Action>();
  for (const { detectors, action } of rules)
    for (const detector of detectors) if (!actions.has(detector)) actions.set(detector, action);
  return {
    direction,
    detectors: DETECTORS.filter((detector) => actions.has(detector)),
    actions,
    isStrict: [...actions.values()].some((action) => action !== 'report'),
  };
}
