import type { RawJson } from '../contract/json.ts';
import { foldCase } from '../json/ambiguous-names.ts';
import { RawObject } from '../json/raw-json.ts';

/** The per-hop keys of `_meta` (MCP 2026-07-28, request envelope and results). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  progressToken: 'progressToken',
} as const;

/** In `_meta` of a list without the entries of some backends: `[{ name, status, seconds }]`. */
export const MISSING_BACKENDS = 'dev.toolmgr/lacking';

const OWN_KEYS: ReadonlySet<string> = new Set(Object.values(META));

/** Reserved keys that are end-to-end, not per hop. */
const END_TO_END: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/related-task',
  'io.modelcontextprotocol/model-immediate-response',
]);

/**
 * Whether a `_meta` key is per hop and not forwarded.
 * Reserved: a dotted prefix whose second label is `modelcontextprotocol` or `mcp` (MCP basic, `_meta`), in any case,
 * because some servers read names without regard to case.
 */
function isPerHop(key: string): boolean {
  if (OWN_KEYS.has(key)) return true;
  const slash = key.indexOf('/');
  if (slash === -1) return key.length === META.progressToken.length && foldCase(key) === PROGRESS_TOKEN;
  const label = key.slice(0, slash).split('.', 3)[1];
  if (label === undefined || !RESERVED.has(foldCase(label))) return false;
  return !END_TO_END.has(key);
}

const PROGRESS_TOKEN = foldCase(META.progressToken);
const RESERVED: ReadonlySet<string> = new Set(['modelcontextprotocol', 'mcp'].map(foldCase));

/** `_meta` without its per-hop members; `undefined` when it is empty then, or not an object. */
export function endToEndMeta(meta: RawJson | undefined): RawJson | undefined {
  if (meta === undefined || meta[0] !== 0x7b) return undefined;
  return endToEndMembers(RawObject.parse(meta));
}

/** Like {@link endToEndMeta}, for a parsed `_meta`. */
export function endToEndMembers(meta: RawObject | undefined): RawJson | undefined {
  if (meta === undefined) return undefined;
  const keys = meta.keys();
  const perHop = keys.filter(isPerHop);
  return perHop.length === keys.length ? undefined : meta.without(...perHop).toBytes();
}

/** Params or a result object without per-hop `_meta` members. Returns the same buffer when there are none. */
export function withoutPerHop(object: RawJson): RawJson {
  if (!object.includes(META_KEY)) return object; // most objects have none, and a search is cheaper than a scan
  const members = RawObject.parse(object);
  const meta = members.get('_meta');
  if (meta === undefined) return object;
  const kept = endToEndMeta(meta);
  if (kept === meta) return object;
  return (kept === undefined ? members.without('_meta') : members.with('_meta', kept)).toBytes();
}

const META_KEY = Buffer.from('_meta');
