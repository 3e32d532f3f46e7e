import type { Call, Caller, JsonObject, RawJson } from '@toolmgr/core';
import { encode, isObject } from '@toolmgr/core';

/** Version of the payloads. */
export const PAYLOAD_VERSION = 'v0.1.0';

/** The place of a call, for payloads. */
export interface PayloadContext {
  readonly serverName: string;
  readonly transport: string;
}

/** The parts of a payload that all webhooks of one call share. */
export interface Payload {
  /** The JSON-RPC request as it would be sent now. */
  readonly request: RawJson;
  /** The payload for one request to one webhook. */
  bytes(uid: string, nowMs: number): Buffer;
}

/**
 * Makes the payload of a call.
 *
 * The request is put together from the bytes of the client, so large integers and unknown fields arrive as they were sent. Its
 * `id` is the correlation id of the call, as in audit lines. Source: run reference §8.5.
 */
export function payloadOf(call: Call, context: PayloadContext): Payload {
  const request = requestOf(call);
  const shared = [
    Buffer.from(`,"principal":${principalOf(call.caller)},"context":${JSON.stringify(contextOf(call, context))}`),
    MCP_REQUEST,
    request,
    END,
  ];
  return {
    request,
    bytes: (uid, nowMs) =>
      Buffer.concat([
        Buffer.from(`{"version":"${PAYLOAD_VERSION}","uid":"${uid}","timestamp":"${new Date(nowMs).toISOString()}"`),
        ...shared,
      ]),
  };
}

const MCP_REQUEST = Buffer.from(',"mcp_request":');
const END = Buffer.from('}');

function requestOf(call: Call): RawJson {
  const { id, method, name, meta } = call;
  const member = NAME_MEMBERS[method];
  let params = call.members;
  if (member !== undefined && params.string(member) !== name) params = params.with(member, encode(name));
  if (meta !== undefined) params = params.with('_meta', meta);
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":`;
  return Buffer.concat([Buffer.from(head), params.toBytes(), END]);
}

/** Where each method has the name of its target; a completion has it inside `ref`. */
export const NAME_MEMBERS: Readonly<Record<Call['method'], 'name' | 'uri' | undefined>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'resources/subscribe': 'uri',
  'completion/complete': undefined,
};

const principals = new WeakMap<Caller, string>();

/** The identity as JSON, without any token; `null` for an anonymous caller. */
function principalOf(caller: Caller): string {
  let text = principals.get(caller);
  if (text === undefined) {
    text = JSON.stringify(caller.issuer === '' ? null : identityOf(caller));
    principals.set(caller, text);
  }
  return text;
}

function identityOf({ subject, name, claims }: Caller): JsonObject {
  const { email, groups } = claims;
  return {
    sub: subject,
    name: name ?? (typeof claims.name === 'string' ? claims.name : undefined),
    email: typeof email === 'string' ? email : undefined,
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : undefined,
    claims: isObject(claims) ? claims : {},
  };
}

function contextOf({ target, name, inbound }: Call, { serverName, transport }: PayloadContext): JsonObject {
  // another plugin may have given the call another name, and the new target is not looked up yet
  const isOfBackend =
    target.run === undefined && !target.isMissing && (target.kind === 'template' || target.key === name);
  return {
    server_name: serverName,
    backend_server: isOfBackend ? target.backend : undefined,
    source_ip: inbound?.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, ''),
    transport,
  };
}
