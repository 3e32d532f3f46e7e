import { createHash, randomBytes } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import type { z } from 'zod';
import { createSlots } from '../../core/extension/slots.ts';
import { type AuthServer, openAuthServer } from '../../plugins/auth-server/auth-server.ts';
import { authServerConfig } from '../../plugins/auth-server/config.ts';
import type { SignInParts } from '../../plugins/auth-server/sign-in/context.ts';
import type { SignIn } from '../../plugins/auth-server/sign-in/sign-in.ts';
import type { AuthStorage } from '../../plugins/auth-server/storage/storage.ts';
import { type OpenEndpoint, openEndpoint, routesOf } from './open-endpoint.ts';

/** Settings of a rig; each has a default. */
export interface AuthServerRigOptions {
  readonly config?: RigConfig | ((facts: { readonly issuer: string; readonly audience: string }) => RigConfig);
  /** Path of the issuer, e.g. `/team`. */
  readonly issuerPath?: string;
  /** The issuer, instead of the URL of the rig: a replica. */
  readonly issuer?: string;
  /** Shared by replicas. */
  readonly storage?: AuthStorage;
  /** The configured upstream providers and the real pages, instead of a sign-in that asks no one. */
  readonly realSignIn?: boolean;
  /** Name of this machine in all URLs. Default: `127.0.0.1`. */
  readonly host?: 'localhost';
  /** Interactions that are never finished by themselves. */
  readonly signInByHand?: boolean;
}

type RigConfig = Partial<z.input<typeof authServerConfig>>;

/** An authorization server over HTTP with a sign-in that asks no one: a fixed person signs in and consents. */
export interface AuthServerRig extends AsyncDisposable {
  readonly issuer: string;
  readonly audience: string;
  readonly http: OpenEndpoint;
  readonly server: AuthServer;
  /** Subject at the provider of the person who signs in. */
  loginAs: string;
  /** Registers a public client and returns its id. */
  register(metadata?: JsonObject): Promise<string>;
  /** Begins a sign-in of a client. */
  begin(clientId: string, more?: Readonly<Record<string, string | undefined>>): SignInAttempt;
  /** The whole sign-in: registration, code and tokens. */
  tokens(clientId?: string): Promise<IssuedTokens>;
  token(form: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<FormReply>;
  post(
    path: string,
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<FormReply>;
}

/** One authorization request. */
export interface SignInAttempt {
  readonly url: string;
  readonly verifier: string;
  readonly browser: TestBrowser;
  /** Follows all redirects of the server and returns the parameters for the client. */
  finish(): Promise<URLSearchParams>;
  /** Exchanges a code. */
  exchange(code: string, more?: Readonly<Record<string, string>>): Promise<FormReply>;
}

/** The answer to a form. */
export interface FormReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A successful token response. */
export interface IssuedTokens {
  readonly clientId: string;
  readonly access: string;
  readonly refresh: string;
  readonly claims: JsonObject;
}

/** A redirect URI of a test's client. */
export const REDIRECT = 'http://127.0.0.1:49152/callback';

/** A browser without pages: cookies and redirects. */
export class TestBrowser {
  readonly cookies = new Map<string, { readonly value: string; readonly path: string }>();

  get(url: string): Promise<Response> {
    return this.#send(url, {});
  }

  /** Sends a form of a page, as a browser does. */
  post(url: string, form: Readonly<Record<string, string>>): Promise<Response> {
    const { origin } = new URL(url);
    return this.#send(url, { method: 'POST', body: new URLSearchParams(form), headers: { origin } });
  }

  async #send(url: string, request: RequestInit): Promise<Response> {
    const { pathname } = new URL(url);
    const sent = [...this.cookies].filter(
      ([, { path }]) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')),
    );
    const cookie = sent.map(([key, { value }]) => `${key.split(' ')[0]}=${value}`).join('; ');
    const headers = new Headers(request.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const answer = await fetch(url, { ...request, redirect: 'manual', headers });
    for (const line of answer.headers.getSetCookie()) this.#keep(line, pathname);
    return answer;
  }

  #keep(line: string, pathname: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const at = pair.indexOf('=');
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? pathname.replace(/\/[^/]*$/, '');
    const key = `${pair.slice(0, at)} ${path}`;
    const isGone = attributes.some((each) => /^expires=thu, 01 jan 1970|^max-age=0/i.test(each));
    if (isGone) this.cookies.delete(key);
    else this.cookies.set(key, { value: pair.slice(at + 1), path });
  }
}

/** Starts a rig on a free port. */
export async function authServerRig(options: AuthServerRigOptions = {}): Promise<AuthServerRig> {
  let table: Parameters<AuthServer['mount']>[0] | undefined;
  const routes = routesOf((mounted) => {
    table = mounted;
  });
  const opened = await openEndpoint({ routes });
  const http = { ...opened, origin: opened.origin.replace('127.0.0.1', options.host ?? '127.0.0.1') };
  const issuer = options.issuer ?? `${http.origin}${options.issuerPath ?? ''}`;
  const audience = `${options.issuer ?? http.origin}/mcp`;
  const core = {
    slots: createSlots(),
    log: recorded(http),
    now: () => Date.now() + http.clock.aheadMs,
    server: { name: 'test-gateway', version: '1.2.3' },
    backends: { credentialsChanged: () => {} },
  };
  const config = authServerConfig.parse({
    issuer,
    allowedAudiences: [audience],
    upstreamProviders: [
      {
        name: 'test',
        type: 'oidc',
        oidcConfig: { issuerUrl: 'https://idp.example', clientId: 'gateway', redirectUri: 'https://gw.example/cb' },
      },
    ],
    ...(typeof options.config === 'function' ? options.config({ issuer, audience }) : options.config),
  });
  const { storage } = options;
  const fakes = {
    upstreams: [],
    createSignIn: (parts: SignInParts) => signInOf(parts, () => rig.loginAs, options.signInByHand ?? false),
  };
  const server = await openAuthServer(core, config, {
    ...(options.realSignIn ? {} : fakes),
    ...(storage === undefined ? {} : { storage }),
  });
  if (table === undefined) throw new Error('nothing was mounted');
  server.mount(table);
  const at = (path: string): string => `${http.origin}${path}`;

  const rig: AuthServerRig = {
    issuer,
    audience,
    http,
    server,
    loginAs: 'ada',
    async register(metadata = {}) {
      const answer = await fetch(at('/oauth/register'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'test client', redirect_uris: [REDIRECT], ...metadata }),
      });
      const body = (await answer.json()) as { readonly client_id?: string };
      if (body.client_id === undefined) throw new Error(`not registered: ${JSON.stringify(body)}`);
      return body.client_id;
    },
    begin(clientId, more = {}) {
      const verifier = randomBytes(32).toString('base64url');
      const given = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: REDIRECT,
        state: 'state-of-client',
        resource: audience,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...more,
      };
      const query = new URLSearchParams(
        Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
      );
      const browser = new TestBrowser();
      const url = at(`${options.issuerPath ?? ''}/oauth/authorize?${query}`);
      return {
        url,
        verifier,
        browser,
        async finish() {
          const { redirect_uri: redirect = REDIRECT } = given as { redirect_uri?: string };
          let next = url;
          for (let hops = 0; hops < 20; hops++) {
            const answer = await browser.get(next);
            const location = answer.headers.get('location');
            if (location === null) throw new Error(`${answer.status} at ${next}: ${await answer.text()}`);
            if (location.startsWith(redirect)) return new URL(location).searchParams;
            next = new URL(location, next).href;
          }
          throw new Error('the redirects do not end');
        },
        exchange: (code, others = {}) =>
          rig.token({
            grant_type: 'authorization_code',
            client_id: clientId,
            code,
            redirect_uri: REDIRECT,
            code_verifier: verifier,
            ...others,
          }),
      };
    },
    async tokens(clientId) {
      const id = clientId ?? (await rig.register());
      const attempt = rig.begin(id);
      const code = (await attempt.finish()).get('code') ?? '';
      const { status, body } = await attempt.exchange(code);
      if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`);
      const { access_token: access = '', refresh_token: refresh = '' } = body;
      return { clientId: id, access, refresh, claims: claimsOf(access) };
    },
    token: (form, headers) => rig.post('/oauth/token', form, headers),
    async post(path, form, headers = {}) {
      const answer = await fetch(at(path), { method: 'POST', headers, body: new URLSearchParams(form) });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
      return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : {} };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await http[Symbol.asyncDispose]();
    },
  };
  return rig;
}

/** The claims of a JWT, not verified. */
export function claimsOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as JsonObject;
}

/** The header of a JWT. */
export function headerOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as JsonObject;
}

function signInOf(
  { browserBase, interactions, accounts }: SignInParts,
  loginAs: () => string,
  isByHand: boolean,
): SignIn {
  return {
    connectUrl: () => 'https://gw.example/connect',
    mount(routes) {
      if (isByHand) return;
      const { pathname } = new URL('oauth/sign-in', `${browserBase}/`);
      routes.addBelow('GET', pathname, async (inbound, _body, responder) => {
        const found = await interactions.find(inbound);
        if (found === undefined) return responder.send(400, {}, 'no interaction');
        const identity = { subject: loginAs(), name: 'Ada', email: 'ada@example.com', isSynthetic: false, claims: {} };
        const outcome =
          found.needs === 'login'
            ? { login: { person: (await accounts.personOf('test', identity)).id } }
            : { consent: true as const };
        const { status, headers, body } = await interactions.finish(inbound, outcome);
        responder.send(status, headers, body);
      });
    },
  };
}

function recorded({ logged }: OpenEndpoint) {
  const at = (level: string) => (message: string, fields?: JsonObject) => void logged.push({ level, message, fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
