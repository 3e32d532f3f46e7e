import type { Inbound } from '@toolmgr/core';
import type { Person } from '../accounts/accounts.ts';
import { connectionsPage, signInPage } from '../pages/connections-page.ts';
import { redirectAnswer } from '../pages/page.ts';
import { problemPage } from '../pages/problem-page.ts';
import type { BrowserAnswer } from '../provider/interactions.ts';
import { CONNECTIONS_BINDING, sendFromPage } from './connect.ts';
import type { PageAnswer, SignInContext } from './context.ts';
import { formFields, queryFields } from './forms.ts';
import { UPSTREAM_MS } from './legs.ts';
import { formOutdated, PROBLEMS } from './problems.ts';

/** `/connections`: what a person connected, and which applications act for them. */
export interface ConnectionsPages {
  readonly get: PageAnswer;
  readonly post: PageAnswer;
}

/** What `?done=` may be; other values show nothing. */
const DONE: Readonly<Record<string, string>> = {
  connected: 'The account is connected.',
  disconnected: 'The account is disconnected.',
  ended: 'The session is ended. The application has to ask you again.',
  'signed-out': 'You are signed out of this browser.',
};

type Fields = ReadonlyMap<string, string>;

/** Creates the page. */
export function createConnectionsPages(context: SignInContext): ConnectionsPages {
  const { accounts, consents, cookies, identityProvider, interactions, keys, paths, report, upstreams } = context;
  const done = (what: string, set: readonly string[] = []): BrowserAnswer =>
    redirectAnswer(`${paths.connections}?done=${what}`, set);
  const personOf = async (inbound: Inbound): Promise<Person | undefined> => {
    const id = await interactions.personOf(inbound);
    return id === undefined ? undefined : accounts.person(id);
  };
  const token = (value: string, person = ''): string => keys.formToken('connections', value, person);

  const signedOutForms: Readonly<Record<string, (inbound: Inbound) => Promise<BrowserAnswer>>> = {
    'sign-in': (inbound) => sendFromPage(context, inbound, identityProvider, { kind: 'identify' }, { isForm: true }),
    'sign-in-other': (inbound) =>
      sendFromPage(context, inbound, identityProvider, { kind: 'identify' }, { isForm: true, wantsOther: true }),
  };

  const forms: Readonly<Record<string, (inbound: Inbound, person: string, fields: Fields) => Promise<BrowserAnswer>>> =
    {
      async connect(inbound, person, fields) {
        const upstream = context.upstream(fields.get('provider') ?? '');
        if (upstream === undefined) return problemPage(PROBLEMS.unknownForm);
        return sendFromPage(context, inbound, upstream, { kind: 'connect', person }, { isForm: true });
      },
      async disconnect(inbound, person, fields) {
        const upstream = context.upstream(fields.get('provider') ?? '');
        if (upstream === undefined) return problemPage(PROBLEMS.unknownForm);
        await accounts.disconnect(person, upstream.name, AbortSignal.timeout(UPSTREAM_MS));
        report({ change: 'account_disconnected', outcome: 'success', person, upstream: upstream.name, inbound });
        return done('disconnected');
      },
      async end(_inbound, person, fields) {
        const session = (await accounts.sessions(person)).find(({ id }) => id === fields.get('session'));
        if (session !== undefined) {
          await consents.forget(person, session.clientId);
          await context.endSession(session.id);
        }
        return done('ended');
      },
      async 'sign-out'(inbound) {
        const { 'set-cookie': set = [] } = await interactions.signOut(inbound);
        return done('signed-out', [set, cookies.clear(CONNECTIONS_BINDING)].flat());
      },
    };

  return {
    async get(inbound) {
      const binding = cookies.ensure(inbound, CONNECTIONS_BINDING);
      const shared = {
        action: paths.connections,
        done: doneText(queryFields(inbound)?.get('done')),
        cookies: binding.cookies,
      };
      const person = await personOf(inbound);
      if (person === undefined) {
        return signInPage({ ...shared, provider: identityProvider.name, csrf: token(binding.value) });
      }
      const [connections, sessions] = await Promise.all([
        accounts.connections(person.id),
        accounts.sessions(person.id),
      ]);
      const providers = upstreams.map(({ name }) => name);
      return connectionsPage({
        ...shared,
        person,
        providers,
        connections,
        sessions,
        csrf: token(binding.value, person.id),
      });
    },
    async post(inbound, body) {
      const fields = formFields(inbound, body) ?? new Map<string, string>();
      const value = cookies.read(inbound, CONNECTIONS_BINDING);
      const person = (await personOf(inbound))?.id;
      const given = fields.get('csrf') ?? '';
      if (value === undefined || !keys.isFormToken(given, 'connections', value, person ?? '')) {
        return problemPage(formOutdated(paths.connections));
      }
      const action = fields.get('do') ?? '';
      if (person === undefined) {
        const answer = Object.hasOwn(signedOutForms, action) ? signedOutForms[action] : undefined;
        return answer?.(inbound) ?? problemPage(PROBLEMS.unknownForm);
      }
      const answer = Object.hasOwn(forms, action) ? forms[action] : undefined;
      return answer?.(inbound, person, fields) ?? problemPage(PROBLEMS.unknownForm);
    },
  };
}

function doneText(done = ''): string | undefined {
  return Object.hasOwn(DONE, done) ? DONE[done] : undefined;
}
