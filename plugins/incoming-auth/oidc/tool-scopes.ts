import type { Call, JsonObject, Refusal } from '@toolmgr/core';
import { allScopes, type Scopes } from './contract.ts';
import type { ResourceMetadata } from './resource-metadata.ts';

/** Decides calls of tools that need scopes. */
export interface ToolScopes {
  /** The configured names without `*`. */
  readonly names: readonly string[];
  /** 403 with `insufficient_scope` when the token of the caller lacks a scope that the tool needs. */
  refusal(call: Call): Refusal | undefined;
}

/**
 * Prepares `toolScopes`; `undefined` when no tool needs a scope. A tool needs the scopes of all entries that match its name.
 *
 * The challenge names also the scopes that the token has already: clients of older revisions request just what it names, and
 * would get a token that fits no other tool.
 * Source: MCP 2025-11-25 authorization, scope challenge handling; RFC 6750 §3.1.
 */
export function createToolScopes(
  { scopes: advertised, toolScopes = {} }: Scopes,
  metadata: Pick<ResourceMetadata, 'insufficientScope'>,
): ToolScopes | undefined {
  const entries = Object.entries(toolScopes);
  if (entries.length === 0) return undefined;
  const named = new Map(entries.filter(([name]) => !name.includes('*')));
  const patterns = entries.flatMap(([name, scopes]) => {
    const [start, end] = name.split('*');
    return start === undefined || end === undefined ? [] : [{ start, end, scopes }];
  });
  const known = allScopes({ scopes: advertised, toolScopes });

  const neededFor = (name: string): readonly string[] => {
    const exact = named.get(name) ?? NONE;
    const matching = patterns.filter(
      ({ start, end }) => name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end),
    );
    return matching.length === 0 ? exact : [...exact, ...matching.flatMap(({ scopes }) => scopes)];
  };

  return {
    names: [...named.keys()],
    refusal({ method, name, caller, inbound }) {
      if (method !== 'tools/call') return undefined;
      const needed = neededFor(name);
      if (needed.length === 0) return undefined;
      const granted = grantedScopes(caller.claims);
      const lacking = needed.filter((scope) => !granted.has(scope));
      if (lacking.length === 0) return undefined;
      const wanted = known.filter((scope) => granted.has(scope) || needed.includes(scope));
      return {
        refused: true,
        status: 403,
        reason: `the tool needs a token with the scope ${[...new Set(lacking)].join(' ')}`,
        ...(inbound === undefined
          ? {}
          : { headers: { 'www-authenticate': metadata.insufficientScope(inbound, wanted) } }),
      };
    },
  };
}

/** `scope` of RFC 9068 and RFC 7662, or `scp` of other providers; each a text with spaces, or a list. */
function grantedScopes({ scope, scp }: JsonObject): ReadonlySet<unknown> {
  return new Set([scope, scp].flat().flatMap((each) => (typeof each === 'string' ? each.split(' ') : [])));
}

const NONE: readonly string[] = [];
