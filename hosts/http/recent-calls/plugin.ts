import { type Call, type CallRecord, definePlugin, type Plugin, STAGE, shortened } from '@toolmgr/core';
import { z } from 'zod';
import type { CallFeed, RecentCall } from './feed.ts';

/** Address of the plugin that fills a feed. Only plans of a host with the page have it. */
export const RECENT_CALLS = 'recent-calls';

/** Adds every call to `feed`. */
export function recentCallsPlugin(feed: CallFeed): Plugin {
  return definePlugin({
    address: RECENT_CALLS,
    stability: 'alpha',
    summary: 'shows the last calls on the page of the host',
    config: z.strictObject({}),
    apply(core) {
      core.hooks.callSettled.tap({ name: RECENT_CALLS, stage: STAGE.late }, (record) => feed.add(callFrom(record)));
    },
  });
}

/** Copies what the page shows. Runs before the response: nothing is decoded. */
function callFrom(record: CallRecord): Omit<RecentCall, 'seq'> {
  const { call, outcome, startedMs, durationMs, resultBytes } = record;
  const { caller, target } = call;
  const client = clientOf(call);
  const detail = detailOf(record);
  return {
    id: call.id,
    isInner: call.parent !== undefined,
    startedMs,
    durationMs,
    method: call.method,
    name: shortened(call.name, MAX_TEXT),
    ...(target.original === call.name ? {} : { original: shortened(target.original, MAX_TEXT) }),
    backend: target.backend,
    caller: shortened(caller.name ?? caller.subject, MAX_TEXT),
    ...(client === undefined ? {} : { client }),
    outcome,
    ...(detail === undefined ? {} : { detail }),
    resultBytes,
  };
}

function detailOf({ outcome, refusal, error }: CallRecord): string | undefined {
  // what a cancelled call is answered says nothing: no one reads it
  const text = outcome === 'cancelled' ? OUTCOMES.cancelled : (refusal?.reason ?? error?.message ?? OUTCOMES[outcome]);
  return text === undefined ? undefined : shortened(text, MAX_TEXT);
}

/** What an outcome says by itself. */
const OUTCOMES: Readonly<Partial<Record<CallRecord['outcome'], string>>> = {
  toolError: 'the tool reported an error',
  cancelled: 'the client cancelled the call or closed its connection',
  abandoned: 'the client did not answer what the tool asked for',
};

function clientOf({ client: { clientInfo } }: Call): string | undefined {
  const { name, version } = clientInfo ?? {};
  if (typeof name !== 'string') return undefined;
  return shortened(typeof version === 'string' ? `${name} ${version}` : name, MAX_TEXT);
}

/** Characters of a text from a client or a backend. */
const MAX_TEXT = 256;
