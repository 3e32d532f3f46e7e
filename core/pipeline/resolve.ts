import { randomUUID } from 'node:crypto';
import { isAmbiguousUri } from '../catalog/ambiguous-uri.ts';
import type { Catalog, Catalogs } from '../catalog/catalog.ts';
import type { Call, CallMethod, CatalogEntry } from '../contract/call.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { isLongerThan } from '../json/byte-pieces.ts';
import { decodeObject, isObject } from '../json/json-value.ts';
import type { RawObject } from '../json/raw-json.ts';
import type { Limits } from '../limits.ts';
import { listClassOf } from '../mcp/capabilities.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { FORWARDED } from '../mcp/message.ts';
import { endToEndMembers } from '../mcp/meta.ts';
import type { ResumingCall, RoundState, StateSeal } from './bridge/request-state.ts';
import { createCall } from './call-value.ts';
import { missingEntry } from './denial.ts';
import type { McpRequest } from './mcp-request.ts';
import type { Passthrough } from './passthrough-headers.ts';
import { type AnsweredLink, linkAnswer } from './user-action.ts';
import { staleState } from './wire-faults.ts';

/** How the catalogue of a request is found. */
export interface CatalogParts {
  readonly catalogs: Catalogs;
  /** The second path of the endpoint, if there is one. */
  readonly directPath: string | undefined;
}

/** The catalogue for the client and path of a request. @throws GatewayFault see {@link Catalogs} */
export function catalogFor(
  { catalogs, directPath }: CatalogParts,
  { client, inbound }: Partial<Pick<McpRequest, 'inbound'>> & Pick<McpRequest, 'client'>,
): Catalog {
  const catalog = catalogs.of(listClassOf(client.owner));
  return directPath !== undefined && inbound?.path === directPath ? catalog.direct() : catalog;
}

/** What resolving needs. */
export interface ResolveParts extends CatalogParts {
  readonly seal: StateSeal;
  readonly limits: NameLimits;
  /** Picks the headers of a client's request that are forwarded. */
  readonly passthrough: Passthrough | undefined;
}

/** Longest names and URIs, in bytes. */
export type NameLimits = Pick<Limits, 'nameBytes' | 'uriBytes'>;

/** The target of a call: an entry and its name, a placeholder for an unknown name, or an error. */
export type Resolved =
  | { readonly call: Call & ResumingCall & AnsweredLink }
  | { readonly missing: Call & AnsweredLink }
  | { readonly error: WireError };

/** Reads the params of a call method and finds its target. */
export function resolveCall(parts: ResolveParts, request: McpRequest): Resolved {
  const method = request.method as CallMethod;
  const { params } = request;
  const named = NAMED[method](params, parts.limits);
  if ('error' in named) return named;
  const inputResponses = params.get('inputResponses');
  if (inputResponses !== undefined && inputResponses[0] !== OPEN_BRACE) {
    return invalid(`${method}: params.inputResponses must be an object`);
  }
  const catalog = catalogFor(parts, request);
  const target = findTarget(catalog, method, named.name, params) ?? missingFor(catalog, method, named.name, params);
  if (target.isMissing && UNLISTED.has(method) && isAmbiguousUri(named.name)) {
    return invalid(
      `${method}: params.uri is ambiguous: it has another spelling (dot or empty segments, control characters, unnecessary percent-encodings, an authority that URL parsers change), and no list contains it in this spelling`,
    );
  }
  // completion is about a variable of a template: policies decide about the template, whatever URI was given
  const name = method === 'completion/complete' && target.kind === 'template' ? target.key : named.name;
  const round = roundOf(parts, request, method, name, target);
  if ('error' in round) return round;
  const isLinked = round.state?.linkSent === true;
  const call = createCall({
    id: round.state?.callId ?? request.inbound?.record?.id ?? randomUUID(),
    method,
    name,
    target,
    members: params.only(FORWARDED[method]),
    decoded: isObject(request.given?.arguments) ? request.given.arguments : undefined,
    meta: endToEndMembers(params.object('_meta')),
    caller: request.caller,
    client: request.client,
    inbound: request.inbound,
    headers: (request.inbound && parts.passthrough?.(request.inbound.headers)) ?? NO_HEADERS,
    parent: undefined,
    round: round.state?.round ?? 1,
    backendState: round.state?.inner,
    inputResponses: isLinked ? undefined : inputResponses, // the backend did not ask
    cancel: request.cancel,
  });
  if (isLinked) Object.assign(call, { link: linkAnswer(inputResponses) });
  if (target.isMissing) return { missing: call };
  return {
    call: isLinked || round.state?.parked === undefined ? call : Object.assign(call, { parked: round.state.parked }),
  };
}

/** The entry of a method and name; also used when a rewrite changed the name of a call. */
export function findTarget(
  catalog: Catalog,
  method: CallMethod,
  name: string,
  params: Pick<RawObject, 'get'>,
): CatalogEntry | undefined {
  if (method === 'tools/call') return catalog.find('tool', name);
  if (method === 'prompts/get') return catalog.find('prompt', name);
  if (method !== 'completion/complete') return catalog.findResource(name) ?? unlisted(catalog, name);
  if (refersToPrompt(params)) return catalog.find('prompt', name);
  return catalog.findTemplate(name) ?? catalog.findResource(name);
}

/** The resource of a URI that no list contains, when exactly one backend may have it. */
function unlisted(catalog: Catalog, uri: string): CatalogEntry | undefined {
  const found = catalog.findUnlisted(uri);
  return 'entry' in found ? found.entry : undefined;
}

/** The placeholder for an unknown name, with the backends that might have it and got no request. */
function missingFor(catalog: Catalog, method: CallMethod, name: string, params: RawObject): CatalogEntry {
  const missing = missingEntry(kindOf(method, params), name);
  if (!UNLISTED.has(method)) return missing;
  const found = catalog.findUnlisted(name);
  return 'entry' in found || found.among.length === 0 ? missing : { ...missing, mayBeOf: found.among };
}

/** Methods whose URI need not be in a list. */
const UNLISTED: ReadonlySet<CallMethod> = new Set(['resources/read', 'resources/subscribe']);

function kindOf(method: CallMethod, params: RawObject): EntryKind {
  if (method === 'tools/call') return 'tool';
  if (method === 'prompts/get') return 'prompt';
  return method === 'completion/complete' && refersToPrompt(params) ? 'prompt' : 'resource';
}

function refersToPrompt(params: Pick<RawObject, 'get'>): boolean {
  const ref = params.get('ref');
  return ref !== undefined && decodeObject(ref)?.type === 'ref/prompt';
}

type Named = { readonly name: string } | { readonly error: WireError };

/** Where each method has the name of its target, and the shape of its other params. */
const NAMED: Readonly<Record<CallMethod, (params: RawObject, limits: NameLimits) => Named>> = {
  'tools/call': (params, limits) => memberNamed(params, 'name', 'tools/call', limits),
  'prompts/get': (params, limits) => memberNamed(params, 'name', 'prompts/get', limits),
  'resources/read': (params, limits) => memberNamed(params, 'uri', 'resources/read', limits),
  'resources/subscribe': (params, limits) => memberNamed(params, 'uri', 'resources/subscribe', limits),
  'completion/complete': (params, limits) => {
    const ref = params.object('ref');
    const member = REFERENCES.get(ref?.string('type') ?? '');
    const named = ref === undefined || member === undefined ? undefined : shortMember(ref, member, limits);
    if (named === undefined) {
      return invalid('completion/complete: params.ref must be a ref/prompt with a name or a ref/resource with a uri');
    }
    return 'limit' in named ? tooLong('completion/complete', `ref.${member}`, named.limit) : named;
  },
};

/** The member of a `ref` with the name, by type of the `ref`. */
const REFERENCES: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['ref/prompt', 'name'],
  ['ref/resource', 'uri'],
]);

function memberNamed(params: RawObject, member: 'name' | 'uri', method: string, limits: NameLimits): Named {
  const named = shortMember(params, member, limits);
  if (named === undefined) return invalid(`${method}: params.${member} must be a string`);
  if ('limit' in named) return tooLong(method, member, named.limit);
  const given = params.get('arguments');
  if (given !== undefined && given[0] !== OPEN_BRACE && !given.equals(NULL)) {
    return invalid(`${method}: params.arguments must be an object`);
  }
  return named;
}

/** A name or URI; its limit when it is over it, so that nothing compares, matches or evaluates megabytes. */
function shortMember(
  object: RawObject,
  member: 'name' | 'uri',
  { nameBytes, uriBytes }: NameLimits,
): { readonly name: string } | { readonly limit: number } | undefined {
  const limit = member === 'name' ? nameBytes : uriBytes;
  const raw = object.get(member);
  if (raw !== undefined && raw.length > limit * ESCAPED_BYTE + QUOTES && raw[0] === QUOTE) return { limit };
  const name = object.string(member);
  if (name === undefined) return undefined;
  return isLongerThan(name, limit) ? { limit } : { name };
}

const QUOTE = 0x22;
const QUOTES = 2;
const ESCAPED_BYTE = 6; // \u0041

function tooLong(method: string, member: string, limit: number): { readonly error: WireError } {
  return invalid(`${method}: params.${member} is longer than ${limit} bytes`);
}

function invalid(message: string): { readonly error: WireError } {
  return { error: wireError(CODE.invalidParams, message) };
}

/** Checks a retry's `requestState`; a first round has none. */
function roundOf(
  parts: ResolveParts,
  request: McpRequest,
  method: string,
  name: string,
  target: CatalogEntry,
): { readonly state: RoundState | undefined } | { readonly error: WireError } {
  const sealed = request.params.get('requestState');
  if (sealed === undefined) return { state: undefined };
  const text = request.params.string('requestState');
  if (text === undefined) return { error: staleState() };
  const binding = { caller: request.caller, method, name, arguments: argumentsOf(request.params) };
  const state = parts.seal.open(text, binding);
  if (state === undefined || state.backend !== target.backend) return { error: staleState() };
  return { state };
}

function argumentsOf(params: RawObject) {
  const raw: RawJson | undefined = params.get('arguments');
  return raw === undefined ? {} : (decodeObject(raw) ?? {});
}

const OPEN_BRACE = 0x7b;
const NULL = Buffer.from('null');
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
