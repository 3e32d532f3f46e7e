// Time per request that `upstream_inject` adds to that of `header_injection`, with a warm cache: 100 signed-in callers, memory
// storage, the clock of the machine, so that each row is read again every few seconds. Flags: --seconds N (default 3) for each turn.

import type { AuthContext, Backend } from '@toolmgr/core';
import { prepareAuthorizers } from '../../core/backend/authorizers.ts';
import { createAccountsAndTokens } from '../../plugins/auth-server/accounts/accounts-and-tokens.ts';
import { createMemoryStorage } from '../../plugins/auth-server/storage/memory-storage.ts';
import { upstreamTokens as upstreamTokensSlot } from '../../plugins/kit/oauth/upstream-tokens.ts';

import { createHeaderInjection } from '../../plugins/outgoing-auth/header-injection/strategy.ts';
import { createUpstreamInject } from '../../plugins/outgoing-auth/upstream-inject/strategy.ts';
import { callerOf, ISSUER } from '../support/accounts.ts';
import { fakeUpstream } from '../support/fake-upstream.ts';
import { pluginCore } from '../support/plugin-core.ts';

const CALLERS = 100;
const TURNS = 3;
const BATCH = 10_000;
const secondsAt = process.argv.indexOf('--seconds');
const SECONDS = secondsAt < 0 ? 3 : Number(process.argv[secondsAt + 1]);
const signal = new AbortController().signal;

const { log } = pluginCore();
const upstream = fakeUpstream('idp', Date.now);
const storage = createMemoryStorage(Date.now);
const { accounts, upstreamTokens } = createAccountsAndTokens({
  issuer: ISSUER,
  storage,
  upstreams: [upstream],
  log,
  connectUrl: () => '',
  now: Date.now,
});
const contexts: AuthContext[] = [];
for (let at = 0; at < CALLERS; at++) {
  const grant = upstream.grant(`person-${at}`);
  const { id } = await accounts.personOf('idp', grant.identity);
  await accounts.connect(id, 'idp', grant);
  await accounts.openSession({ id: `session-${at}`, person: id, clientId: 'c', startedMs: 0 }, 86_400_000);
  contexts.push({ caller: callerOf(id, `session-${at}`), purpose: 'call', signal });
}

const { slots, slot } = pluginCore({});
slot(upstreamTokensSlot).register('auth-server', {
  providers: ['idp'],
  primary: 'idp',
  isInjectionDisabled: false,
  ...upstreamTokens,
});
slots.authStrategies.register('header_injection', createHeaderInjection(slots));
slots.authStrategies.register('upstream_inject', createUpstreamInject({ slot, log, now: Date.now }));
const authorizers = await prepareAuthorizers(
  {
    passthroughHeaders: [],
    outgoingAuth: {
      default: { type: 'header_injection', options: { headerName: 'Authorization', headerValue: 'Bearer fixed' } },
      backends: { upstream: { type: 'upstream_inject', options: { providerName: 'idp' } } },
    },
  },
  slots,
);

const micros = { fixed: [] as number[], upstream: [] as number[] };
await microsPerRequest('fixed');
await microsPerRequest('upstream'); // both warm up
for (let turn = 0; turn < TURNS; turn++) {
  micros.fixed.push(await microsPerRequest('fixed'));
  micros.upstream.push(await microsPerRequest('upstream'));
}
const [fixed, injected] = [Math.min(...micros.fixed), Math.min(...micros.upstream)];
console.log(`header_injection  ${fixed.toFixed(2)} µs per request`);
console.log(`upstream_inject   ${injected.toFixed(2)} µs per request`);
console.log(`difference        ${(injected - fixed).toFixed(2)} µs (best of ${TURNS} turns each; goal: at most 5 µs)`);
await storage.close();

async function microsPerRequest(name: 'fixed' | 'upstream'): Promise<number> {
  const backend: Backend = { name, transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' };
  const authorizer = authorizers.of(name);
  const endMs = Date.now() + SECONDS * 1000;
  const began = process.hrtime.bigint();
  let count = 0;
  while (Date.now() < endMs) {
    for (let at = 0; at < BATCH; at++) {
      const request = { backend, method: 'POST', url: backend.url ?? '', headers: {} } as const;
      const context = contexts[at % CALLERS];
      if (context === undefined) throw new Error('no callers');
      const applied = authorizer.apply(request, context);
      if (applied !== undefined) await applied;
    }
    count += BATCH;
  }
  return Number(process.hrtime.bigint() - began) / 1000 / count;
}
