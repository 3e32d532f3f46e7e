import { explainCause, GatewayFault, type Inbound, type Log } from '@toolmgr/core';
import type { Accounts } from '../accounts/accounts.ts';
import type { BrowserAnswer, Interactions } from '../provider/interactions.ts';
import type { ServerSecrets } from '../provider/server-secrets.ts';
import type { Report } from '../report.ts';
import type { AuthStorage } from '../storage/storage.ts';
import { type Upstream, UpstreamRefusal } from '../upstreams/upstream.ts';
import { type BindingCookies, createBindingCookies } from './binding-cookies.ts';
import { identityProviderOf } from './chain.ts';
import { type Consents, createConsents } from './consents.ts';
import { createLegs, type Legs } from './legs.ts';
import { createPageKeys, type PageKeys } from './page-keys.ts';
import { createProgressRecords, type ProgressRecords } from './progress.ts';

/** What the sign-in is made of. */
export interface SignInParts {
  /** Base URL of all pages, as browsers see it. */
  readonly browserBase: string;
  /** URLs of this gateway to which providers redirect, besides `/oauth/callback` below the base. */
  readonly callbackUrls: readonly string[];
  /** In the configured order, at least one. */
  readonly upstreams: readonly Upstream[];
  readonly accounts: Accounts;
  readonly interactions: Interactions;
  readonly storage: AuthStorage;
  readonly secrets: Pick<ServerSecrets, 'hmacSecrets'>;
  /** Ends the session of a client, with its refresh tokens. */
  endSession(tsid: string): Promise<void>;
  readonly report: Report;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
}

/** The parts with everything that all pages share. */
export interface SignInContext extends SignInParts {
  /** Names the person. */
  readonly identityProvider: Upstream;
  readonly paths: SignInPaths;
  readonly keys: PageKeys;
  readonly cookies: BindingCookies;
  readonly legs: Legs;
  readonly progress: ProgressRecords;
  readonly consents: Consents;
  upstream(name: string): Upstream | undefined;
}

/** Paths of the pages as browsers see them. */
export interface SignInPaths {
  /** `signIn/UID` is the page of one authorization request. */
  readonly signIn: string;
  readonly callback: string;
  readonly connect: string;
  readonly connections: string;
}

/** Answers one request of a page. */
export type PageAnswer = (inbound: Inbound, body: Buffer) => Promise<BrowserAnswer>;

/** Makes the shared parts. */
export function signInContext(parts: SignInParts): SignInContext {
  const { browserBase, upstreams, storage, secrets, now } = parts;
  return {
    ...parts,
    identityProvider: identityProviderOf(upstreams),
    paths: pathsBelow(basePath(browserBase)),
    keys: createPageKeys(secrets.hmacSecrets, now),
    cookies: createBindingCookies(browserBase.startsWith('https:')),
    legs: createLegs(storage),
    progress: createProgressRecords(storage),
    consents: createConsents(storage),
    upstream: (name) => upstreams.find((each) => each.name === name),
  };
}

/** The path of a URL without a slash at its end; empty for the root. */
export function basePath(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '');
}

/** The paths of the pages below a prefix. */
export function pathsBelow(prefix: string): SignInPaths {
  return {
    signIn: `${prefix}/oauth/sign-in`,
    callback: `${prefix}/oauth/callback`,
    connect: `${prefix}/oauth/connect`,
    connections: `${prefix}/connections`,
  };
}

/** The decision of the provider about the person, or a code that was used before. */
const PERSONAL: ReadonlySet<string> = new Set([
  ...['access_denied', 'invalid_grant'],
  ...['interaction_required', 'login_required', 'account_selection_required', 'consent_required'],
]);

/** How an exchange with a provider failed, after a line in the log. Other errors are thrown again. */
export function failureOf(cause: unknown, { log }: SignInContext, { name }: Upstream): 'refused' | 'away' {
  if (cause instanceof UpstreamRefusal) {
    const { code, message } = cause;
    if (PERSONAL.has(code)) log.info(`sign-in: upstream ${name} refused`, { code });
    else log.warn(`sign-in: upstream ${name} refused, which may be due to the configuration`, { code, cause: message });
    return 'refused';
  }
  const isTimeout = cause instanceof DOMException && cause.name === 'TimeoutError';
  if (!isTimeout && !(cause instanceof GatewayFault && cause.code.startsWith('REMOTE_'))) throw cause;
  log.warn(`sign-in: upstream ${name} cannot be used now`, { cause: explainCause(cause) });
  return 'away';
}
