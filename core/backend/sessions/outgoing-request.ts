import type { Call } from '../../contract/call.ts';
import type { MirroredParam } from '../../contract/catalog-entry.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject } from '../../contract/json.ts';
import { joinParts, type Part } from '../../json/byte-pieces.ts';
import { membersWithoutBraces } from '../../json/raw-json.ts';
import { heldOf } from '../../mcp/byte-budget.ts';
import { encodeHeaderValue } from '../../mcp/headers.ts';
import { FORWARDED } from '../../mcp/message.ts';
import { META } from '../../mcp/meta.ts';
import { mirrorArguments } from '../../mcp/mirrored-params.ts';
import type { OutgoingRequest } from './backend-session.ts';

/** Time limits of a call, and the mirrored arguments of the current list. */
export interface OutgoingFacts {
  readonly era: Era;
  /** Headers are mirrored: modern over HTTP. */
  readonly mirrors: boolean;
  readonly timeoutMs: number;
  readonly totalMs: number;
  /** Replaces `call.target.mirrored` when the list was read again. */
  readonly mirrored?: readonly MirroredParam[];
}

/**
 * The request of a call: the backend's own name instead of the advertised one, all other forwarded members unchanged.
 * Members of a finished round are sent only in the era that has them.
 */
export function outgoingRequest(call: Call, facts: OutgoingFacts): OutgoingRequest {
  const { client } = call;
  return {
    method: call.method,
    params: paramsFor(call, facts.era),
    meta: call.meta,
    caller: call.caller,
    purpose: 'call',
    capabilities: client.owner.capabilities,
    logLevel: client.logLevel,
    headers: call.headers,
    mirrored: facts.mirrors ? mirroredFor(call, facts) : undefined,
    timeoutMs: facts.timeoutMs,
    totalMs: facts.totalMs,
    cancel: call.cancel,
    listener: client,
    held: heldOf(call.inbound),
  };
}

/** The params member that names the target. */
const NAMED_BY: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'resources/subscribe': 'uri',
};

function paramsFor(call: Call, era: Era): Part[] {
  const { members } = call;
  const naming = NAMED_BY[call.method];
  const forwarded = FORWARDED[call.method];
  const parts: Part[] = [];
  let text = naming === undefined ? '' : `"${naming}":${JSON.stringify(targetOf(call))}`;
  for (const key of members.keys()) {
    const raw = members.get(key);
    if (raw === undefined || key === naming || !forwarded.has(key)) continue;
    const value = key === 'ref' && call.method === 'completion/complete' ? refFor(call) : raw;
    const comma = text === '' && parts.length === 0 ? '' : ',';
    parts.push(`${text}${comma}${JSON.stringify(key)}:`, value);
    text = '';
  }
  if (text !== '') parts.push(text);
  if (era !== '2026-07-28') return parts;
  const { inputResponses, backendState } = call;
  if (inputResponses !== undefined) parts.push(`${separator(parts)}"inputResponses":`, inputResponses);
  if (backendState !== undefined) parts.push(`${separator(parts)}"requestState":${JSON.stringify(backendState)}`);
  return parts;
}

function separator(parts: readonly Part[]): string {
  return parts.length === 0 ? '' : ',';
}

/** A template stands for many URIs: the backend gets the requested one. */
function targetOf(call: Call): string {
  return call.target.kind === 'template' ? call.name : call.target.original;
}

/** Built anew: policies have not checked other members of a `ref`. */
function refFor(call: Call): string {
  const named = JSON.stringify(call.target.original);
  return call.target.kind === 'prompt'
    ? `{"type":"ref/prompt","name":${named}}`
    : `{"type":"ref/resource","uri":${named}}`;
}

function mirroredFor(call: Call, facts: OutgoingFacts): Readonly<Record<string, string>> | undefined {
  if (NAMED_BY[call.method] === undefined) return undefined;
  const headers: Record<string, string> = { 'mcp-name': encodeHeaderValue(targetOf(call)) };
  const mirrored = facts.mirrored ?? call.target.mirrored;
  if (mirrored !== undefined && call.method === 'tools/call') mirrorArguments(headers, mirrored, call.arguments);
  return headers;
}

/**
 * Encodes the requests of one connection: unchanged params, with the `_meta` of its era and the gateway's progress
 * token.
 */
export class RequestBodies {
  readonly #clientInfo: JsonObject;
  readonly #envelopes = new WeakMap<JsonObject, string>();

  constructor(clientInfo: JsonObject) {
    this.#clientInfo = clientInfo;
  }

  of(id: number | string, asked: OutgoingRequest, era: Era): Buffer {
    const parts: Part[] = [
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(asked.method)},"params":{`,
      ...asked.params,
    ];
    let meta = era === '2026-07-28' ? this.#envelope(asked) : '';
    if (asked.listener?.progressToken !== undefined) {
      meta += `${meta === '' ? '' : ','}"progressToken":${JSON.stringify(id)}`;
    }
    const own = asked.meta === undefined ? undefined : membersWithoutBraces(asked.meta);
    if (meta === '' && own === undefined) {
      parts.push('}}');
      return joinParts(parts);
    }
    parts.push(`${asked.params.length === 0 ? '' : ','}"_meta":{${meta}`);
    if (own !== undefined) parts.push(meta === '' ? '' : ',', own);
    parts.push('}}}');
    return joinParts(parts);
  }

  #envelope(asked: OutgoingRequest): string {
    let text = this.#envelopes.get(asked.capabilities);
    if (text === undefined) {
      text =
        `"${META.protocolVersion}":"2026-07-28","${META.clientInfo}":${JSON.stringify(this.#clientInfo)},` +
        `"${META.clientCapabilities}":${JSON.stringify(asked.capabilities)}`;
      this.#envelopes.set(asked.capabilities, text);
    }
    return asked.logLevel === undefined ? text : `${text},"${META.logLevel}":${JSON.stringify(asked.logLevel)}`;
  }
}
