import type { Refusal } from '@toolmgr/core';

/** Whether a refusal asks the client for a token with more scopes. Source: RFC 6750 §3.1. */
export function asksForScopes({ headers = {} }: Refusal): boolean {
  return headers['www-authenticate']?.includes('error="insufficient_scope"') === true;
}
