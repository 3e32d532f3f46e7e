import type { Inbound } from '@toolmgr/core';

/** The fields of a form of these pages; `undefined` when the body is another one. Fields have one value each. */
export function formFields({ headers }: Inbound, body: Buffer): ReadonlyMap<string, string> | undefined {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded' || body.length > MAX_BODY) return undefined;
  return singleFields(body.toString());
}

/** The parameters of a query; `undefined` when one is repeated or the query is too long. Source: RFC 6749 §3.1. */
export function queryFields({ query = '' }: Inbound): ReadonlyMap<string, string> | undefined {
  return query.length > MAX_QUERY ? undefined : singleFields(query);
}

function singleFields(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = [...new URLSearchParams(text)];
  const fields = new Map(pairs);
  return fields.size === pairs.length ? fields : undefined;
}

const MAX_BODY = 16 * 1024;
const MAX_QUERY = 16 * 1024; // the codes of some providers are several kilobytes long
