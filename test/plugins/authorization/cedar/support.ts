import {
  type Call,
  type Caller,
  type CatalogEntry,
  definePlugin,
  encode,
  type JsonObject,
  type Plugin,
  RawObject,
} from '@toolmgr/core';
import { z } from 'zod';
import type { EntryKind } from '../../../../core/contract/catalog-entry.ts';
import { createCall } from '../../../../core/pipeline/call-value.ts';
import { missingEntry } from '../../../../core/pipeline/denial.ts';
import { silentClient } from '../../../../core/pipeline/silent-client.ts';
import { Cancel } from '../../../../core/timing/cancel.ts';
import cedar from '../../../../plugins/authorization/cedar/index.ts';
import { bootPlugin, type PluginCore } from '../../../support/plugin-core.ts';

/** The configuration before parsing. */
export type Settings = z.input<typeof cedar.config>;

/** A request in a test. */
export interface TestRequest {
  readonly subject?: string;
  readonly claims?: JsonObject;
  readonly kind?: EntryKind;
  readonly name?: string;
  readonly method?: Call['method'];
  readonly arguments?: JsonObject;
  /** The raw arguments of a client. */
  readonly rawArguments?: string;
  readonly entry?: Partial<CatalogEntry>;
  readonly isMissing?: boolean;
}

/** The decision, and the policies that the log names. */
export interface Outcome {
  readonly isAllowed: boolean;
  readonly policies: readonly string[];
  readonly failed: readonly string[];
  readonly reason: string | undefined;
  readonly listed: boolean;
  readonly refusal: string | undefined;
}

/** The plugin on a core without a gateway. */
export interface Judge {
  readonly core: PluginCore;
  ask(asked?: TestRequest): Promise<Outcome>;
  shown(entries: readonly CatalogEntry[], caller: Caller): Promise<readonly CatalogEntry[]>;
}

/** Boots the plugin. @throws the errors of its schema, one per line */
export async function judge(settings: Settings | readonly string[]): Promise<Judge> {
  const given = 'policies' in settings ? settings : { policies: [...settings] };
  const core = await bootPlugin(cedar, given);
  return {
    core,
    async ask(asked = {}) {
      core.clock.nowMs += 1_000; // log lines about denials are bounded per second
      const call = callOf(asked);
      const from = core.lines.length;
      const refusal = await core.hooks.authorize.promise(call);
      const line = core.lines.slice(from).find(({ fields }) => 'policies' in fields);
      const shown = await core.hooks.advertise.promise([call.target], call.caller);
      return {
        isAllowed: refusal === undefined,
        policies: (line?.fields.policies ?? []) as readonly string[],
        failed: (line?.fields.failed ?? []) as readonly string[],
        reason: line?.fields.reason as string | undefined,
        listed: shown.length === 1,
        refusal: refusal?.reason,
      };
    },
    shown: (entries, caller) => core.hooks.advertise.promise(entries, caller),
  };
}

const METHODS: Readonly<Record<EntryKind, Call['method']>> = {
  tool: 'tools/call',
  prompt: 'prompts/get',
  resource: 'resources/read',
  template: 'resources/read',
};

/** A call like one of the pipeline. */
export function callOf(asked: TestRequest): Call {
  const { kind = 'tool', name = 'echo', method = METHODS[kind] } = asked;
  const raw = asked.rawArguments === undefined ? encode(asked.arguments ?? {}) : Buffer.from(asked.rawArguments);
  const caller = callerOf(asked.subject ?? 'ada', asked.claims);
  const owner = { key: 'o', caller, capabilities: {}, capabilityClass: '' };
  return createCall({
    id: `call ${++calls}`,
    method,
    name,
    target: asked.isMissing ? missingEntry(kind, name) : entryOf(kind, asked.entry?.key ?? name, asked.entry),
    members: RawObject.empty().with('name', encode(name)).with('arguments', raw),
    meta: undefined,
    caller,
    client: silentClient(owner),
    headers: {},
    parent: undefined,
    round: 1,
    backendState: undefined,
    inputResponses: undefined,
    cancel: new Cancel(),
  });
}

let calls = 0;

/** A catalogue entry of backend `far`. */
export function entryOf(kind: EntryKind, key: string, more: Partial<CatalogEntry> = {}): CatalogEntry {
  return { kind, key, backend: 'far', original: key, definition: encode({ name: key }), shapedBy: [], ...more };
}

/** A caller of issuer `i`. */
export function callerOf(subject: string, claims: JsonObject = {}): Caller {
  return { issuer: 'i', subject, key: `i\0${subject}`, claims };
}

/** An authenticator for tests that takes claims from a header without verification. */
export const claimsFromHeader: Plugin = definePlugin({
  address: 'testing/believing',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.authenticate.tap('testing/believing', ({ headers }) => {
      const claims = JSON.parse(headers['x-claims'] ?? '{"sub":"unnamed"}') as JsonObject;
      return callerOf(String(claims.sub), claims);
    });
  },
});

/** Headers for {@link claimsFromHeader}. */
export function claimsHeader(claims: JsonObject): { readonly 'x-claims': string } {
  return { 'x-claims': JSON.stringify(claims) };
}

export { cedar };
