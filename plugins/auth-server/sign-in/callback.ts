import type { Inbound } from '@toolmgr/core';
import { redirectAnswer } from '../pages/page.ts';
import { problemPage } from '../pages/problem-page.ts';
import type { BrowserAnswer } from '../provider/interactions.ts';
import type { Upstream, UpstreamGrant } from '../upstreams/upstream.ts';
import { bindingHash } from './binding-cookies.ts';
import { CONNECTIONS_BINDING, connectPath } from './connect.ts';
import { failureOf, type PageAnswer, type SignInContext } from './context.ts';
import { queryFields } from './forms.ts';
import { type LegPurpose, type PendingLeg, UPSTREAM_MS } from './legs.ts';
import { PROBLEMS, providerAway, providerRefused, withConnections } from './problems.ts';

type Purpose<K extends LegPurpose['kind']> = Extract<LegPurpose, { readonly kind: K }>;

/** What a leg brought. */
type LegResult = UpstreamGrant | 'refused' | 'away';

/**
 * `GET /oauth/callback`, to which all providers send browsers back. The provider is that of the pending leg, never one of the
 * request (mix-up attacks, RFC 9700 §4.4), and the browser has to be the one that was sent.
 */
export function createCallback(context: SignInContext): PageAnswer {
  const { accounts, cookies, identityProvider, interactions, keys, legs, log, paths, progress, report, upstream } =
    context;

  const store = async (person: string, from: Upstream, grant: UpstreamGrant, inbound: Inbound): Promise<void> => {
    await accounts.connect(person, from.name, grant);
    report({ change: 'account_connected', outcome: 'success', person, upstream: from.name, inbound });
    log.info('sign-in: a person connected an account', { person, upstream: from.name });
  };

  const exchanged = async (leg: PendingLeg, from: Upstream, state: string, inbound: Inbound): Promise<LegResult> => {
    try {
      // errors too: the provider's issuer is checked in them as well (RFC 9207)
      return await from.exchange(
        new URLSearchParams(inbound.query),
        { ...leg, state },
        AbortSignal.timeout(UPSTREAM_MS),
      );
    } catch (cause) {
      return failureOf(cause, context, from);
    }
  };

  const signIn = async (
    purpose: Purpose<'sign-in'>,
    leg: PendingLeg,
    from: Upstream,
    result: LegResult,
    inbound: Inbound,
  ) => {
    const { uid } = purpose;
    const page = `${paths.signIn}/${encodeURIComponent(uid)}`;
    const before = await progress.get(uid);
    if (before === undefined || before.binding !== leg.binding) return problemPage(PROBLEMS.answerInvalid);
    if (result === 'away') return problemPage(providerAway(from.name, page));
    if (result === 'refused') {
      const failure = { error: 'access_denied' as const, description: 'an identity provider refused the sign-in' };
      await progress.update(uid, (now) => ({ ...now, failure }));
      return redirectAnswer(page);
    }
    const person = purpose.person ?? (await accounts.personOf(from.name, result.identity)).id;
    // a person of the browser's session, not of this sign-in, may have signed out meanwhile
    const isOfSession = purpose.person !== undefined && before.person === undefined;
    if (isOfSession && (await interactions.personOf(inbound)) !== person) return problemPage(PROBLEMS.twoPeople);
    if (before.person !== undefined && before.person !== person) return problemPage(PROBLEMS.twoPeople);
    await store(person, from, result, inbound);
    const after = await progress.update(uid, (now) => {
      if (now.person !== undefined && now.person !== person) return undefined;
      const connected = [...now.connected.filter((name) => name !== from.name), from.name];
      return { ...now, connected, ...(purpose.person === undefined ? { person } : {}) };
    });
    if (after?.person !== undefined && after.person !== person) return problemPage(PROBLEMS.twoPeople);
    return redirectAnswer(page);
  };

  const connect = async (purpose: Purpose<'connect'>, from: Upstream, result: LegResult, inbound: Inbound) => {
    const { person, ticket } = purpose;
    const back = ticket === undefined ? paths.connections : connectPath(paths, ticket);
    if ((await interactions.personOf(inbound)) !== person) return problemPage({ ...PROBLEMS.notSignedIn, retry: back });
    if (result === 'away') return problemPage(providerAway(from.name, back));
    if (result === 'refused') return problemPage(providerRefused(from.name, back));
    if (from === identityProvider && (await accounts.personOf(from.name, result.identity)).id !== person) {
      return problemPage(withConnections(PROBLEMS.otherIdentity, paths.connections));
    }
    await store(person, from, result, inbound);
    const done =
      ticket === undefined ? `${paths.connections}?done=connected` : `${paths.connect}?connected=${from.name}`;
    return redirectAnswer(done);
  };

  const identify = async (purpose: Purpose<'identify'>, from: Upstream, result: LegResult, inbound: Inbound) => {
    const { ticket } = purpose;
    const back = ticket === undefined ? paths.connections : connectPath(paths, ticket);
    if (result === 'away') return problemPage(providerAway(from.name, back));
    if (result === 'refused') return problemPage(providerRefused(from.name, back));
    const { id } = await accounts.personOf(from.name, result.identity);
    if (ticket !== undefined && keys.readTicket(ticket)?.person !== id) {
      return problemPage(withConnections(PROBLEMS.linkOfOther, paths.connections));
    }
    await store(id, from, result, inbound);
    const { 'set-cookie': set = [] } = await interactions.signIn(inbound, id);
    report({ change: 'sign_in', outcome: 'success', person: id, upstream: from.name, inbound });
    return redirectAnswer(back, [set].flat());
  };

  return async (inbound): Promise<BrowserAnswer> => {
    const query = queryFields(inbound);
    const state = query?.get('state') ?? '';
    if (!query?.has('code') && !query?.has('error')) return problemPage(PROBLEMS.answerInvalid);
    const found = await legs.find(state);
    if (found === undefined) return problemPage(PROBLEMS.answerInvalid);
    const value = cookies.read(inbound, found.purpose.kind === 'sign-in' ? found.purpose.uid : CONNECTIONS_BINDING);
    // a stranger's request does not consume the leg
    if (value === undefined || bindingHash(value) !== found.binding) return problemPage(PROBLEMS.answerInvalid);
    const leg = await legs.take(state);
    const from = leg === undefined ? undefined : upstream(leg.provider);
    if (leg === undefined || from === undefined) return problemPage(PROBLEMS.answerInvalid);
    const result = await exchanged(leg, from, state, inbound);
    if (result === 'refused') {
      const reason = 'the identity provider refused';
      report({ change: 'sign_in', outcome: 'denied', upstream: from.name, reason, inbound });
    }
    const { purpose } = leg;
    if (purpose.kind === 'sign-in') return signIn(purpose, leg, from, result, inbound);
    return purpose.kind === 'connect'
      ? connect(purpose, from, result, inbound)
      : identify(purpose, from, result, inbound);
  };
}
