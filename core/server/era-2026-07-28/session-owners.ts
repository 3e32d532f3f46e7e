import { createHash } from 'node:crypto';
import type { Caller } from '../../contract/caller.ts';
import type { SessionListener, SessionOwner } from '../../contract/client-context.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import { encode } from '../../json/json-value.ts';
import { capabilityClass, normalizedCapabilities, relayableCapabilities } from '../../mcp/capabilities.ts';
import type { GatewayService } from '../../pipeline/gateway-service.ts';

/** Owners of the backend sessions of modern callers: one per caller and declared capabilities. */
export interface SessionOwners {
  /** The owner for a request. It has the caller's current token; its key and sink stay the same. */
  of(caller: Caller, declared: JsonObject, raw: RawJson): SessionOwner;
}

/** What declared capabilities mean for backends; computed once for equal bytes. */
interface Profile {
  readonly relayed: JsonObject;
  readonly class: string;
  /** The class, and a key that distinguishes clients of one class with different details, independent of formatting. */
  readonly id: string;
}

/** Caches owners and capability profiles, both within limits; a dropped one is recreated equal. */
export function createSessionOwners(
  sinkOf: (ownerKey: string) => SessionListener,
  listClass?: GatewayService['listClass'],
): SessionOwners {
  const owners = new Map<string, Owner>();
  const profiles = new Map<string, Profile>();
  const profileOf = (declared: JsonObject, raw: RawJson): Profile => {
    if (raw.length <= 2) return NOTHING_DECLARED;
    if (raw.length > MAX_KEPT_BYTES) return createProfile(declared);
    const text = raw.toString('latin1');
    return profiles.get(text) ?? remember(profiles, text, createProfile(declared));
  };
  return {
    of(caller, declared, raw) {
      const profile = profileOf(declared, raw);
      const key = `caller:${caller.key}:${profile.id}`;
      const known = owners.get(key);
      if (known !== undefined) known.caller = caller;
      const owner = known ?? new Owner(key, caller, profile, sinkOf(key), listClass);
      return known !== undefined || raw.length > MAX_KEPT_BYTES ? owner : remember(owners, key, owner);
    },
  };
}

class Owner implements SessionOwner {
  readonly key: string;
  caller: Caller;
  readonly capabilities: JsonObject;
  readonly capabilityClass: string;
  readonly listClass: string | undefined;
  readonly sink: SessionListener;

  constructor(
    key: string,
    caller: Caller,
    profile: Profile,
    sink: SessionListener,
    listClass: GatewayService['listClass'],
  ) {
    this.key = key;
    this.caller = caller;
    this.capabilities = profile.relayed;
    this.capabilityClass = profile.class;
    this.listClass = listClass?.(profile.class, caller);
    this.sink = sink;
  }
}

function createProfile(declared: JsonObject): Profile {
  const relayed = normalizedCapabilities(relayableCapabilities(declared));
  const name = capabilityClass(declared);
  const isPlain = Object.values(relayed).every((capability) => Object.keys(capability as JsonObject).length === 0);
  if (isPlain) return { relayed, class: name, id: name };
  const digest = createHash('sha256').update(encode(relayed)).digest('base64url').slice(0, 16);
  return { relayed, class: name, id: `${name}.${digest}` };
}

function remember<V>(kept: Map<string, V>, key: string, value: V): V {
  if (kept.size >= MAX_KEPT) {
    const oldest = kept.keys().next().value;
    if (oldest !== undefined) kept.delete(oldest);
  }
  kept.set(key, value);
  return value;
}

const NOTHING_DECLARED: Profile = { relayed: {}, class: '', id: '' };
const MAX_KEPT = 4096;
const MAX_KEPT_BYTES = 2048; // of one capabilities object; with a larger one nothing is cached
