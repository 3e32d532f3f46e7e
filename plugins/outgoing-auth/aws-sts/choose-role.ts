import type { JsonObject } from '@toolmgr/core';
import { compileMatcher, type Matcher } from '@toolmgr/plugins/kit/cel';
import type { AwsStsOptions } from './config.ts';

/**
 * Makes the function that returns a caller's role, `undefined` without a match and without a fallback. Lower priorities come
 * first; mappings with the same priority keep their order, those without one come last.
 */
export function createRoleChoice(options: AwsStsOptions): (claims: JsonObject) => string | undefined {
  const { roleMappings, roleClaim, fallbackRoleArn } = options;
  const mappings = roleMappings
    .toSorted((one, other) => (one.priority ?? LAST) - (other.priority ?? LAST))
    .map(({ roleArn, claim, matcher }) => ({
      roleArn,
      matches: matcher === undefined ? hasValue(roleClaim, claim ?? '') : compileMatcher(matcher),
    }));
  return (claims) => mappings.find(({ matches }) => matches(claims))?.roleArn ?? fallbackRoleArn;
}

const LAST = 2 ** 31; // after every int32

/** Whether a claim is the value, or a list that contains it. */
function hasValue(claim: string, value: string): Matcher {
  return (claims) => {
    if (!Object.hasOwn(claims, claim)) return false;
    const given = claims[claim];
    return Array.isArray(given) ? given.includes(value) : given === value;
  };
}
