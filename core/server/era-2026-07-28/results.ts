import type { CallResult } from '../../contract/call.ts';
import type { RawJson } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { RequestMessage } from '../../mcp/message.ts';
import { endToEndMeta, META } from '../../mcp/meta.ts';
import { membersOf } from '../../mcp/result.ts';

/** Methods whose complete results must carry cache hints (MCP 2026-07-28, caching). */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/**
 * A result for modern clients, as buffers: the backend's members without copying, followed by the members of the era.
 *
 * Shape: the backend's reserved `_meta` is replaced by the gateway's `serverInfo`; `resultType` is always set; complete
 * results of cacheable methods get `ttlMs` (the backend's; 0 without one or after a retry) and a private scope, even
 * when the backend calls them public. Tool results without `content` get an empty list.
 */
export function modernResult(
  { method, given }: Pick<RequestMessage, 'method' | 'given'>,
  result: CallResult,
  serverInfo: RawJson,
): readonly Buffer[] {
  const members = membersOf(result);
  const parts: Buffer[] = [META_HEAD, stampedMeta(members, serverInfo)];
  if (!members.has('resultType')) parts.push(COMPLETE);
  const isComplete = result.resultType === 'complete';
  const isHinted = isComplete && CACHEABLE.has(method);
  if (isHinted) {
    const isRetry = given.inputResponses !== undefined || given.requestState !== undefined;
    const ttl = isRetry ? undefined : members.get('ttlMs');
    parts.push(TTL_HEAD, ttl !== undefined && WHOLE.test(ttl.toString('latin1')) ? ttl : ZERO, PRIVATE);
  }
  if (isComplete && method === 'tools/call' && !members.has('content')) parts.push(NO_CONTENT);
  for (const key of members.keys()) {
    if (key === '_meta' || (isHinted && (key === 'ttlMs' || key === 'cacheScope'))) continue;
    parts.push(memberHead(key), members.get(key) as RawJson);
  }
  parts.push(END);
  return parts;
}

/** `_meta` of a result that the gateway makes itself. */
export function ownMeta(serverInfo: RawJson, subscriptionId?: RawJson): RawJson {
  const own = RawObject.empty().with(META.serverInfo, serverInfo);
  return (subscriptionId === undefined ? own : own.with(META.subscriptionId, subscriptionId)).toBytes();
}

function stampedMeta(members: RawObject, serverInfo: RawJson): RawJson {
  const kept = endToEndMeta(members.get('_meta'));
  if (kept !== undefined) return RawObject.parse(kept).with(META.serverInfo, serverInfo).toBytes();
  let own = ownMetas.get(serverInfo);
  if (own === undefined) {
    own = ownMeta(serverInfo);
    ownMetas.set(serverInfo, own);
  }
  return own;
}

/** Most results have no `_meta` of their own: the bytes of theirs are made once per gateway. */
const ownMetas = new WeakMap<RawJson, RawJson>();

function memberHead(key: string): Buffer {
  return MEMBER_HEADS.get(key) ?? Buffer.from(`,${JSON.stringify(key)}:`);
}

const KNOWN = ['content', 'structuredContent', 'isError', 'resultType', 'messages', 'contents', 'description'] as const;
const MEMBER_HEADS: ReadonlyMap<string, Buffer> = new Map(KNOWN.map((key) => [key, Buffer.from(`,"${key}":`)]));
const META_HEAD = Buffer.from('{"_meta":');
const END = Buffer.from('}');
const COMPLETE = Buffer.from(',"resultType":"complete"');
const TTL_HEAD = Buffer.from(',"ttlMs":');
const ZERO = Buffer.from('0');
const PRIVATE = Buffer.from(',"cacheScope":"private"');
const NO_CONTENT = Buffer.from(',"content":[]');
const WHOLE = /^\d{1,15}$/;
