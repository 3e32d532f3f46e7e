import { createSecretKey, randomUUID } from 'node:crypto';
import type { Inbound, RouteAnswer, RouteTable } from '@toolmgr/core';
import { createAccountsAndTokens } from '../../plugins/auth-server/accounts/accounts-and-tokens.ts';
import type {
  BrowserAnswer,
  Interaction,
  InteractionOutcome,
} from '../../plugins/auth-server/provider/interactions.ts';
import type { SignInReport } from '../../plugins/auth-server/report.ts';
import { createSignIn } from '../../plugins/auth-server/sign-in/sign-in.ts';
import type { AuthStorage } from '../../plugins/auth-server/storage/storage.ts';
import { type Upstream, type UpstreamLeg, UpstreamRefusal } from '../../plugins/auth-server/upstreams/upstream.ts';
import { accountsOnMemory, ISSUER } from './accounts.ts';
import { fakeUpstream } from './fake-upstream.ts';
import { pluginCore } from './plugin-core.ts';

/** A provider without HTTP: `answer` plays the person at its pages. */
export interface ScriptedUpstream extends Upstream {
  /** The query of the redirect back to the gateway, for an account at this provider. */
  answer(authorizationUrl: string, account: string): string;
  /** Thrown by the next requests to the provider, until it is `undefined`. */
  failing: Error | undefined;
  /** Accounts of successful exchanges. */
  readonly exchanged: string[];
}

function scriptedUpstream(
  name: string,
  loginPolicy: Upstream['loginPolicy'],
  now: () => number,
  lifeMs?: number,
): ScriptedUpstream {
  const codes = new Map<string, { readonly account: string; readonly leg: UpstreamLeg }>();
  const legs = new Map<string, UpstreamLeg>();
  const base = fakeUpstream(name, now, lifeMs);
  const self: ScriptedUpstream = {
    ...base,
    loginPolicy,
    failing: undefined,
    exchanged: [],
    async authorizationUrl(leg) {
      if (self.failing !== undefined) throw self.failing;
      legs.set(leg.state, leg);
      return `https://${name}.example/authorize?state=${leg.state}`;
    },
    answer(authorizationUrl, account) {
      const { hostname, searchParams } = new URL(authorizationUrl);
      const state = searchParams.get('state') ?? '';
      const leg = legs.get(state);
      if (hostname !== `${name}.example` || leg === undefined) throw new Error(`${name} did not get this request`);
      const code = randomUUID();
      codes.set(code, { account, leg });
      return `code=${code}&state=${state}`;
    },
    async exchange(callback, leg) {
      if (self.failing !== undefined) throw self.failing;
      if (callback.has('error')) throw new UpstreamRefusal(name, 'access_denied', 'refused the sign-in');
      const code = callback.get('code') ?? '';
      const issued = codes.get(code);
      codes.delete(code);
      if (issued?.leg.codeVerifier !== leg.codeVerifier || issued.leg.nonce !== leg.nonce) {
        throw new UpstreamRefusal(name, 'invalid_grant', 'the code is not accepted');
      }
      self.exchanged.push(issued.account);
      return base.grant(issued.account);
    },
  };
  return self;
}

/** Settings of the rig. */
export interface SignInRigOptions {
  /** Names of providers; `?` at the end: on demand. Default: `corp` and `github?`. */
  readonly upstreams?: readonly string[];
  readonly issuer?: string;
  readonly callbackUrls?: readonly string[];
  readonly storage?: (inner: AuthStorage) => AuthStorage;
  /** Life of the providers' access tokens in milliseconds. */
  readonly lifeMs?: number;
}

/** The sign-in on memory, with scripted providers and without an OAuth server beneath it. */
export function signInRig(options: SignInRigOptions = {}) {
  const { upstreams: names = ['corp', 'github?'], issuer = ISSUER, storage: over = (same) => same } = options;
  const base = accountsOnMemory();
  const { clock } = base;
  const storage = over(base.storage);
  const upstreams = names.map((name) =>
    scriptedUpstream(name.replace('?', ''), name.endsWith('?') ? 'onDemand' : 'required', clock.now, options.lifeMs),
  );
  const core = pluginCore();
  const { accounts } = accountsOnMemoryWith(upstreams, storage, clock.now);
  const interactions = fakeInteractions();
  const reports: SignInReport[] = [];
  const signIn = createSignIn({
    browserBase: issuer,
    callbackUrls: options.callbackUrls ?? [],
    upstreams,
    accounts,
    interactions,
    storage,
    secrets: { hmacSecrets: [createSecretKey(Buffer.alloc(32, 'key of a test'))] },
    endSession: async (tsid) => void (await accounts.endSession(tsid)),
    report: (change) => void reports.push(change),
    log: core.log,
    now: clock.now,
  });
  const routes = recordedRoutes();
  signIn.mount(routes.table);
  const upstream = (name: string): ScriptedUpstream => {
    const found = upstreams.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no upstream ${name}`);
    return found;
  };
  return {
    ...{ clock, core, storage, accounts, interactions, reports, signIn, upstream, routes },
    /** A browser with cookies of its own. */
    browser: () => fakeBrowser(issuer, routes, interactions),
  };
}

function accountsOnMemoryWith(upstreams: readonly Upstream[], storage: AuthStorage, now: () => number) {
  return createAccountsAndTokens({
    issuer: ISSUER,
    storage,
    upstreams,
    log: pluginCore().log,
    connectUrl: () => '',
    now,
  });
}

/** An authorization request of a fake OAuth server. */
export interface FakeInteraction extends Interaction {
  outcome?: InteractionOutcome;
}

/** Interactions by cookie, as the OAuth server has them. */
function fakeInteractions() {
  const open = new Map<string, FakeInteraction>();
  const sessions = new Map<string, string>();
  const cookieOf = ({ headers }: Inbound, name: string): string | undefined =>
    headers.cookie
      ?.split('; ')
      .find((each) => each.startsWith(`${name}=`))
      ?.slice(name.length + 1);
  const newSession = (person: string): string => {
    const id = randomUUID();
    sessions.set(id, person);
    return `session=${id}; Path=/; HttpOnly`;
  };
  return {
    open,
    sessions,
    async find(inbound: Inbound) {
      const uid = cookieOf(inbound, 'interaction') ?? '';
      const found = open.get(uid);
      return found;
    },
    async finish(inbound: Inbound, outcome: InteractionOutcome): Promise<BrowserAnswer> {
      const found = open.get(cookieOf(inbound, 'interaction') ?? '');
      if (found === undefined) throw new Error('this interaction is gone');
      found.outcome = outcome;
      const cookies = 'login' in outcome ? [newSession(outcome.login.person)] : [];
      return { status: 303, headers: { location: `/oauth/authorize/${found.uid}`, 'set-cookie': cookies } };
    },
    personOf: async (inbound: Inbound) => sessions.get(cookieOf(inbound, 'session') ?? ''),
    signIn: async (_inbound: Inbound, person: string) => ({ 'set-cookie': [newSession(person)] }),
    async signOut(inbound: Inbound) {
      sessions.delete(cookieOf(inbound, 'session') ?? '');
      return { 'set-cookie': ['session=; Path=/; Max-Age=0'] };
    },
  };
}

function recordedRoutes() {
  const exact = new Map<string, RouteAnswer>();
  const below = new Map<string, RouteAnswer>();
  const table: RouteTable = {
    endpointPath: '/mcp',
    add: (method, path, answer) => void exact.set(`${method} ${path}`, answer),
    addBelow: (method, path, answer) => void below.set(`${method} ${path}`, answer),
  };
  const at = (method: string, path: string): RouteAnswer | undefined =>
    exact.get(`${method} ${path}`) ?? below.get(`${method} ${path.slice(0, path.lastIndexOf('/'))}`);
  return { table, at };
}

/** A whole answer. */
export interface FakeAnswer {
  readonly status: number;
  readonly location: string | undefined;
  /** Where the page sends the browser by itself. */
  readonly refresh: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** Sends requests to the routes and keeps cookies. */
export interface FakeBrowser {
  readonly jar: Map<string, string>;
  get(url: string): Promise<FakeAnswer>;
  /** Sends the form of a page with one of its buttons. `over`: fields that are replaced. */
  press(page: FakeAnswer, label: string, over?: Readonly<Record<string, string | undefined>>): Promise<FakeAnswer>;
  post(url: string, fields: Readonly<Record<string, string>>, type?: string): Promise<FakeAnswer>;
  /** Begins an authorization request in this browser. Returns the path of its page. */
  begin(over?: Partial<FakeInteraction>): string;
}

function fakeBrowser(
  issuer: string,
  routes: ReturnType<typeof recordedRoutes>,
  { open }: ReturnType<typeof fakeInteractions>,
): FakeBrowser {
  const jar = new Map<string, string>();
  const send = async (method: string, url: string, body = '', type?: string): Promise<FakeAnswer> => {
    const { pathname, search } = new URL(url, issuer);
    const answer = routes.at(method, pathname);
    if (answer === undefined) throw new Error(`no route ${method} ${pathname}`);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const inbound: Inbound = {
      method,
      path: pathname,
      query: search.slice(1),
      headers: { cookie, 'content-type': type },
      remoteAddress: '192.0.2.1',
      signal: new AbortController().signal,
    };
    return new Promise((resolve, reject) => {
      const sent = (status: number, headers: FakeAnswer['headers'], text: unknown = ''): void => {
        for (const line of [headers['set-cookie'] ?? []].flat()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (/Max-Age=0/.test(line)) jar.delete(name);
          else jar.set(name, value);
        }
        const page = String(text);
        const refresh = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(page)?.[1];
        const location = typeof headers.location === 'string' ? headers.location : undefined;
        resolve({ status, location, refresh: refresh && unescaped(refresh), headers, body: page });
      };
      const responder = { send: sent, open: () => reject(new Error('a stream')), onDisconnect: () => undefined };
      void Promise.resolve(answer(inbound, Buffer.from(body), responder as never)).catch(reject);
    });
  };
  const post: FakeBrowser['post'] = (url, fields, type = 'application/x-www-form-urlencoded') =>
    send('POST', url, new URLSearchParams(fields).toString(), type);
  return {
    jar,
    get: (url) => send('GET', url),
    post,
    press(page, label, over = {}) {
      const form = [...page.body.matchAll(/<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].find(
        ([, , inner = '']) => inner.includes(`>${label}</button>`),
      );
      const [, action = '', inner = ''] = form ?? [];
      const hidden = [...inner.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
      const buttons = [...inner.matchAll(/<button name="([^"]*)" value="([^"]*)"[^>]*>([^<]*)</g)];
      const pressed = buttons.find(([, , , text]) => text === label);
      if (pressed === undefined) throw new Error(`no button "${label}" on: ${page.body}`);
      const fields = Object.fromEntries([...hidden, pressed].map(([, name, value = '']) => [name, unescaped(value)]));
      const wanted = Object.entries({ ...fields, ...over }).filter(
        (pair): pair is [string, string] => pair[1] !== undefined,
      );
      return post(unescaped(action), Object.fromEntries(wanted));
    },
    begin(over = {}) {
      const uid = randomUUID();
      const client = { id: 'client-1', name: 'Claude', uri: undefined, isUnknown: true, hasSecret: false };
      open.set(uid, {
        uid,
        needs: 'login',
        client,
        redirectUri: 'https://claude.example/callback',
        resource: `${issuer}/mcp`,
        scopes: ['openid', 'offline_access'],
        person: undefined,
        asksLogin: false,
        asksConsent: false,
        ...over,
      });
      jar.set('interaction', uid);
      return `/oauth/sign-in/${uid}`;
    },
  };
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));
}
