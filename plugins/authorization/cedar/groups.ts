import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/** Default claims with groups; the first one that exists is used. Source: vmcp spec §2 authzConfig. */
const GROUP_CLAIMS = ['groups', 'roles', 'cognito:groups'] as const;

/** The configured claims with groups and roles. */
export interface GroupClaims {
  readonly groupClaimName?: string | undefined;
  readonly roleClaimName?: string | undefined;
}

/** The groups and roles of a caller, in order and without duplicates. */
export function groupsOf(claims: JsonObject, { groupClaimName, roleClaimName }: GroupClaims): readonly string[] {
  const groups = groupClaimName ? claimAt(claims, groupClaimName) : firstOf(claims);
  const roles = roleClaimName ? claimAt(claims, roleClaimName) : undefined;
  return [...new Set([...strings(groups), ...strings(roles)])];
}

function firstOf(claims: JsonObject): JsonValue | undefined {
  for (const name of GROUP_CLAIMS) {
    const value = own(claims, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The claim with exactly this name, else the one at this dotted path. */
function claimAt(claims: JsonObject, name: string): JsonValue | undefined {
  const exact = own(claims, name);
  if (exact !== undefined) return exact;
  let at: JsonValue | undefined = claims;
  for (const part of name.split('.')) at = isObject(at) ? own(at, part) : undefined;
  return at;
}

/** Reads own members only, because a claim may be named `constructor`. */
function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function strings(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value].filter(isName);
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isName) : [];
}

function isName(value: JsonValue): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed();
}
