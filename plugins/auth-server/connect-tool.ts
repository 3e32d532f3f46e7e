import {
  type Call,
  type CallResult,
  encode,
  nearest,
  resultFromValue,
  type ToolEntry,
  toolFailure,
} from '@toolmgr/core';
import type { UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';

/** The name of the tool in every gateway. */
export const TOOL_NAME = 'connect_account';

/**
 * A tool that gives its caller the link to connect an account at an `onDemand` provider. Many backends show their tools only to
 * people with an account, so without it there would be no call that could lead to the link.
 *
 * The fault of `obtain` becomes the answer that the client can use: an elicitation, or the link as text.
 */
export function connectTool(
  address: string,
  onDemand: readonly string[],
  tokens: Pick<UpstreamTokens, 'obtain'>,
): ToolEntry {
  const run = async ({ arguments: given, caller, signal }: Call): Promise<CallResult> => {
    const { provider, ...others } = given;
    const [other] = Object.keys(others);
    if (other !== undefined) return toolFailure(`${TOOL_NAME} takes 'provider' only, got '${other}'`);
    if (provider !== undefined && !(typeof provider === 'string' && onDemand.includes(provider))) {
      return toolFailure(unknownProvider(provider, onDemand));
    }
    const wanted = typeof provider === 'string' ? [provider] : onDemand;
    for (const name of wanted) await tokens.obtain(caller, name, signal);
    const text = `connected: ${wanted.join(', ')}. Read the list of tools again, it may have more tools now.`;
    return resultFromValue({ content: [{ type: 'text', text }] });
  };
  return {
    kind: 'tool',
    key: TOOL_NAME,
    backend: address,
    original: TOOL_NAME,
    definition: definitionFor(onDemand),
    shapedBy: [address],
    run,
  };
}

function definitionFor(onDemand: readonly string[]) {
  return encode({
    name: TOOL_NAME,
    title: 'Connect an account',
    description: `Connects an account of the user at ${onDemand.join(' or ')}, or returns the link where the user connects it. Use it when tools are missing that need such an account.`,
    inputSchema: {
      type: 'object',
      properties: {
        provider: { type: 'string', enum: onDemand, description: 'Default: the first one that is not connected' },
      },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  });
}

function unknownProvider(given: unknown, onDemand: readonly string[]): string {
  const meant = typeof given === 'string' ? nearest(given, onDemand) : undefined;
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`;
  return `'provider' must be one of ${onDemand.join(', ')}${hint}`;
}
