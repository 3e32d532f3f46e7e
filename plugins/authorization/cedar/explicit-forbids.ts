import { mentionsOf, nodeOf, uidKey } from './expression.ts';
import type { Policy } from './policies.ts';
import { dependsOnArguments } from './unknown-arguments.ts';

/**
 * Which policies forbid a tool that only leads to others, by its name: `find_tool`, `call_tool`, `execute_tool_script`.
 * Policies decide the calls that such a tool makes; the tool itself is refused by a `forbid` that is meant for it: one that
 * names it, or one that looks at no tool at all, only at the caller.
 *
 * Shape: ids of policies; worked out once per name, of which there are as many as such tools.
 */
export function explicitForbids(
  policies: readonly Policy[],
  gatewayName: string,
): (name: string) => ReadonlySet<string> {
  const forbids = policies.filter(({ json }) => json.effect === 'forbid');
  const ofCallers = forbids.filter((policy) => looksAtNoTool(policy, gatewayName)).map(({ id }) => id);
  const known = new Map<string, ReadonlySet<string>>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      found = new Set([...ofCallers, ...forbids.filter((policy) => names(policy, name)).map(({ id }) => id)]);
      known.set(name, found);
    }
    return found;
  };
}

/** The tool as an entity, or its name as a text that something is compared with. */
function names({ json }: Policy, name: string): boolean {
  if (mentionsOf([json]).entities.has(uidKey('Tool', name))) return true;
  return json.conditions.some(({ body }) => isSomewhere(body, (op, value) => op === 'Value' && value === name));
}

function looksAtNoTool({ json }: Policy, gatewayName: string): boolean {
  if (!isEveryTool(json.resource, gatewayName)) return false;
  return !dependsOnArguments(json) && !json.conditions.some(({ body }) => isSomewhere(body, isAboutTool));
}

/** `resource`, `resource is Tool`, `resource in MCP::"this gateway"`. */
function isEveryTool(scope: Policy['json']['resource'], gatewayName: string): boolean {
  if (scope.op === 'All') return true;
  if (scope.op === 'is') return scope.entity_type === 'Tool' && scope.in === undefined;
  if (scope.op !== 'in' || !('entity' in scope)) return false;
  const { type, id } = '__entity' in scope.entity ? scope.entity.__entity : scope.entity;
  return uidKey(type, id) === uidKey('MCP', gatewayName);
}

function isAboutTool(op: string, value: unknown): boolean {
  return op === 'Var' && value === 'resource';
}

/** Whether a node of an expression is what is looked for. */
function isSomewhere(expression: unknown, found: (op: string, value: unknown) => boolean): boolean {
  const node = nodeOf(expression);
  if (node === undefined) return false;
  if (found(node.op, node.body)) return true;
  if (typeof node.body !== 'object' || node.body === null) return false;
  return Object.values(node.body).some((inner) => isSomewhere(inner, found));
}
