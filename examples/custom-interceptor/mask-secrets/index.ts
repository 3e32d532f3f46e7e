import { type Call, type CallResult, callWith, definePlugin, type JsonValue, resultFromValue } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'interception/mask-secrets';

const config = z.strictObject({
  patterns: z.array(z.string().min(1)).min(1).describe('regular expressions; each match is masked'),
  mask: z.string().default('[masked]').describe('replacement text'),
});

/** Masks secrets in calls to backends and in their results. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'masks secrets in arguments and results',
  contractKey: 'maskSecrets', // its section in a vmcp file
  config,
  apply(core, { patterns, mask }) {
    const pattern = new RegExp(patterns.map((each) => `(?:${each})`).join('|'), 'g'); // once, at boot
    const masked: Masked = (text) => text.replace(pattern, () => mask);
    core.hooks.rewriteCall.tap(ADDRESS, (call) => maskedCall(call, masked));
    core.hooks.rewriteResult.tap(ADDRESS, (result) => maskedResult(result, masked));
  },
});

type Masked = (text: string) => string;

/** Returns a new call if something was masked, otherwise the same one: calls are never changed in place. */
function maskedCall(call: Call, masked: Masked): Call {
  const safe = mapStrings(call.arguments, masked);
  return safe === call.arguments ? call : callWith(call, { arguments: safe });
}

/** Reading `value` decodes the result; returning the same result keeps the backend's bytes. */
function maskedResult(result: CallResult, masked: Masked): CallResult {
  const safe = mapStrings(result.value, masked);
  return safe === result.value ? result : resultFromValue(safe);
}

/** Maps every string of a value, but no keys. Returns the same object when no string changed. */
function mapStrings<T extends JsonValue>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    inner === undefined ? inner : mapStrings(inner, map),
  ]);
  const original = value as Readonly<Record<string, JsonValue | undefined>>;
  if (entries.every(([key, inner]) => original[key as string] === inner)) return value;
  return (Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)) as T;
}
