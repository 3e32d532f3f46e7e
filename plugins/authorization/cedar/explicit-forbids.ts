import { dependsOnArguments } from './assume-arguments.ts';
import type { Policy } from './parse-policies.ts';
import { nodeOf, referencesOf, uidKey } from './references.ts';

/**
 * Finds the policies that forbid a dispatcher: `find_tool`, `call_tool`, `execute_tool_script`. Policies apply to the calls
 * that a dispatcher makes; the dispatcher itself is refused by a `forbid` that names it, or that depends only on the caller.
 *
 * Shape: ids of policies, cached by name.
 */
export function explicitForbids(
  policies: readonly Policy[],
  gatewayName: string,
): (name: string) => ReadonlySet<string> {
  const forbids = policies.filter(({ json }) => json.effect === 'forbid');
  const ofCallers = forbids.filter((policy) => ignoresTools(policy, gatewayName)).map(({ id }) => id);
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

/** Whether a policy has the tool as an entity, or its name as a string. */
function names({ json }: Policy, name: string): boolean {
  if (referencesOf([json]).entities.has(uidKey('Tool', name))) return true;
  return json.conditions.some(({ body }) => containsNode(body, (op, value) => op === 'Value' && value === name));
}

function ignoresTools({ json }: Policy, gatewayName: string): boolean {
  if (!isEveryTool(json.resource, gatewayName)) return false;
  return !dependsOnArguments(json) && !json.conditions.some(({ body }) => containsNode(body, isAboutTool));
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

/** Whether an expression contains a node that matches. */
function containsNode(expression: unknown, found: (op: string, value: unknown) => boolean): boolean {
  const node = nodeOf(expression);
  if (node === undefined) return false;
  if (found(node.op, node.body)) return true;
  if (typeof node.body !== 'object' || node.body === null) return false;
  return Object.values(node.body).some((inner) => containsNode(inner, found));
}
