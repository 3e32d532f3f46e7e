import type { Inbound } from '@toolmgr/core';
import { connectedPage, connectPage } from '../pages/connect-pages.ts';
import { continuePage } from '../pages/continue-page.ts';
import { redirectAnswer } from '../pages/page.ts';
import { problemPage } from '../pages/problem-page.ts';
import type { BrowserAnswer } from '../provider/interactions.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { bindingHash } from './binding-cookies.ts';
import { failureOf, type PageAnswer, type SignInContext, type SignInPaths } from './context.ts';
import { formFields, queryFields } from './forms.ts';
import type { LegPurpose } from './legs.ts';
import type { Ticket } from './page-keys.ts';
import { formOutdated, PROBLEMS, providerAway, withConnections } from './problems.ts';

/** Id of the cookie of all pages that belong to no authorization request. */
export const CONNECTIONS_BINDING = 'connections';

/** `/oauth/connect?ticket=…`: one person connects one provider. */
export interface ConnectPages {
  readonly get: PageAnswer;
  readonly post: PageAnswer;
}

/**
 * Creates the pages. A link is useless to others: the person who is signed in with the browser has to be that of the ticket,
 * and confirms it. Otherwise a person could be made to connect an account for the sender of a link.
 */
export function createConnectPages(context: SignInContext): ConnectPages {
  const { accounts, cookies, identityProvider, interactions, keys, paths } = context;

  const known = (text: string): (Ticket & { readonly upstream: Upstream }) | undefined => {
    const ticket = keys.readTicket(text);
    const upstream = ticket === undefined ? undefined : context.upstream(ticket.provider);
    return ticket === undefined || upstream === undefined ? undefined : { ...ticket, upstream };
  };

  const connected = async (inbound: Inbound, provider: string): Promise<BrowserAnswer> => {
    const person = await interactions.personOf(inbound);
    const connections = person === undefined ? [] : await accounts.connections(person);
    if (!connections.some((each) => each.provider === provider)) return redirectAnswer(paths.connections);
    return connectedPage(provider, paths.connections, []);
  };

  return {
    async get(inbound) {
      const query = queryFields(inbound);
      const done = query?.get('connected');
      if (done !== undefined) return connected(inbound, done);
      const text = query?.get('ticket') ?? '';
      const ticket = known(text);
      if (ticket === undefined) return problemPage(PROBLEMS.linkInvalid);
      const person = await interactions.personOf(inbound);
      if (person === undefined) {
        return sendFromPage(context, inbound, identityProvider, { kind: 'identify', ticket: text }, { isForm: false });
      }
      const shown = await accounts.person(person);
      if (person !== ticket.person || shown === undefined) {
        return problemPage(withConnections(PROBLEMS.linkOfOther, paths.connections));
      }
      const binding = cookies.ensure(inbound, CONNECTIONS_BINDING);
      return connectPage({
        provider: ticket.provider,
        person: shown,
        action: paths.connect,
        csrf: keys.formToken('connect', binding.value, person, text),
        ticket: text,
        cookies: binding.cookies,
      });
    },
    async post(inbound, body) {
      const fields = formFields(inbound, body);
      const text = fields?.get('ticket') ?? '';
      const ticket = known(text);
      if (ticket === undefined) return problemPage(PROBLEMS.linkInvalid);
      const person = await interactions.personOf(inbound);
      const link = connectPath(paths, text);
      if (person === undefined) return problemPage({ ...PROBLEMS.notSignedIn, retry: link });
      if (person !== ticket.person) return problemPage(withConnections(PROBLEMS.linkOfOther, paths.connections));
      const value = cookies.read(inbound, CONNECTIONS_BINDING);
      if (value === undefined || !keys.isFormToken(fields?.get('csrf') ?? '', 'connect', value, person, text)) {
        return problemPage(formOutdated(link));
      }
      return sendFromPage(
        context,
        inbound,
        ticket.upstream,
        { kind: 'connect', person, ticket: text },
        { isForm: true },
      );
    },
  };
}

/** Path of a link to connect a provider. */
export function connectPath({ connect }: SignInPaths, ticket: string): string {
  return `${connect}?ticket=${ticket}`;
}

/** Sends a browser to a provider from a page that belongs to no authorization request. */
export async function sendFromPage(
  context: SignInContext,
  inbound: Inbound,
  upstream: Upstream,
  purpose: Exclude<LegPurpose, { readonly kind: 'sign-in' }>,
  { isForm, wantsOther = false }: { readonly isForm: boolean; readonly wantsOther?: boolean },
): Promise<BrowserAnswer> {
  const { cookies, legs, paths } = context;
  const binding = cookies.ensure(inbound, CONNECTIONS_BINDING);
  try {
    const location = await legs.begin(upstream, bindingHash(binding.value), purpose, { wantsOther });
    if (isForm) return continuePage(location, `Continue at ${upstream.name}`, binding.cookies);
    return redirectAnswer(location, binding.cookies);
  } catch (cause) {
    failureOf(cause, context, upstream);
    const retry = purpose.ticket === undefined ? paths.connections : connectPath(paths, purpose.ticket);
    return problemPage(providerAway(upstream.name, retry, undefined, binding.cookies));
  }
}
