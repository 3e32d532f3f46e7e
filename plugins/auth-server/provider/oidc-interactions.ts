import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Inbound, ResponseHeaders } from '@toolmgr/core';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Interaction, Interactions } from './interactions.ts';
import { answerByLibrary, type LibraryAnswer } from './node-bridge.ts';
import { BROWSER_SESSION_SECONDS, SIGN_IN_PATH } from './oidc-configuration.ts';

/** What {@link createInteractions} needs. */
export interface InteractionParts {
  readonly provider: Provider;
  readonly browserBase: string;
  needsConsent(clientId: string): boolean;
  /** Epoch milliseconds. */
  now(): number;
}

type LibraryInteraction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Lets the sign-in pages find and finish authorization requests of the OAuth library. */
export function createInteractions({ provider, browserBase, needsConsent, now }: InteractionParts): Interactions {
  const { secure, sameSite } = { secure: browserBase.startsWith('https:'), sameSite: 'lax' as const };
  const sessionCookie = { path: '/', httpOnly: true, signed: true, overwrite: true, sameSite, secure };

  /** Runs code with a request of the library that has the cookies of `inbound`. */
  async function withLibrary<T>(
    inbound: Inbound,
    run: (request: IncomingMessage, response: ServerResponse) => Promise<T>,
  ): Promise<{ readonly result: T; readonly answer: LibraryAnswer }> {
    let done: { readonly result: T } | undefined;
    let failed: { readonly cause: unknown } | undefined;
    const get = { method: 'GET', headers: inbound.headers, remoteAddress: inbound.remoteAddress };
    const answer = await answerByLibrary(
      { inbound: get, path: SIGN_IN_PATH, baseUrl: browserBase },
      async (request, response) => {
        await run(request, response).then(
          (result) => {
            done = { result };
          },
          (cause: unknown) => {
            failed = { cause };
          },
        );
        if (!response.writableEnded) response.end();
      },
    );
    if (done === undefined) throw failed?.cause;
    return { result: done.result, answer };
  }

  /** The interaction of the cookie, if it is the one of the page's path. */
  async function found(inbound: Inbound): Promise<LibraryInteraction | undefined> {
    try {
      const { result } = await withLibrary(inbound, (request, response) =>
        provider.interactionDetails(request, response),
      );
      const uid = inbound.path.split(`${SIGN_IN_PATH}/`)[1];
      return uid === undefined || uid === result.uid ? result : undefined;
    } catch (cause) {
      if (cause instanceof errors.SessionNotFound) return undefined;
      throw cause;
    }
  }

  const sessionOf = (inbound: Inbound) =>
    withLibrary(inbound, (request, response) => provider.Session.get(provider.createContext(request, response)));

  /** Removes the person of before: the library would show a page of its own that asks to sign out first. */
  async function changePerson(inbound: Inbound, interaction: LibraryInteraction): Promise<void> {
    const { result: session } = await sessionOf(inbound);
    delete session.accountId;
    delete session.authorizations;
    await session.persist();
    delete interaction.session;
    await interaction.persist();
  }

  return {
    async find(inbound) {
      const interaction = await found(inbound);
      if (interaction === undefined) return undefined;
      const { client_id: clientId, redirect_uri: redirectUri, resource, scope, prompt, max_age } = interaction.params;
      const prompts = String(prompt ?? '').split(' ');
      const client = await withLibrary(inbound, () => provider.Client.find(String(clientId)));
      if (client.result === undefined) return undefined;
      return interactionOf(interaction, {
        client: {
          id: client.result.clientId,
          name: client.result.clientName,
          uri: client.result.clientUri,
          isUnknown: needsConsent(client.result.clientId),
          hasSecret: client.result.clientAuthMethod !== 'none',
        },
        asksLogin: prompts.includes('login') || max_age !== undefined,
        ...(max_age === undefined ? {} : { maxAgeS: Number(max_age) }),
        asksConsent: prompts.includes('consent'),
        redirectUri: String(redirectUri),
        resource: String([resource].flat()[0]),
        scopes: String(scope ?? '')
          .split(' ')
          .filter(Boolean),
      });
    },
    async finish(inbound, outcome) {
      const interaction = await found(inbound);
      if (interaction === undefined) throw new Error('the authorization request of this browser has ended');
      if ('login' in outcome) {
        const before = interaction.session?.accountId;
        if (before !== undefined && before !== outcome.login.person) await changePerson(inbound, interaction);
      }
      const result =
        'login' in outcome
          ? { login: { accountId: outcome.login.person } }
          : 'consent' in outcome
            ? { consent: {} }
            : { error: outcome.error, error_description: outcome.description };
      const { answer } = await withLibrary(inbound, (request, response) =>
        provider.interactionFinished(request, response, result),
      );
      return { status: answer.status, headers: { ...answer.headers, 'cache-control': 'no-store' } };
    },
    async personOf(inbound) {
      return (await sessionOf(inbound)).result.accountId;
    },
    async signIn(inbound, person) {
      return changeSession(inbound, async (session) => {
        session.resetIdentifier();
        delete session.authorizations;
        session.loginAccount({ accountId: person, loginTs: Math.floor(now() / 1000) });
        await session.save(BROWSER_SESSION_SECONDS);
        return session.jti;
      });
    },
    async signOut(inbound) {
      return changeSession(inbound, async (session) => {
        await session.destroy();
        return undefined;
      });
    },
  };

  async function changeSession(
    inbound: Inbound,
    change: (session: Awaited<ReturnType<typeof provider.Session.get>>) => Promise<string | undefined>,
  ): Promise<ResponseHeaders> {
    const { answer } = await withLibrary(inbound, async (request, response) => {
      const ctx = provider.createContext(request, response);
      const value = await change(await provider.Session.get(ctx));
      ctx.cookies.set(provider.cookieName('session'), value ?? null, sessionCookie);
    });
    const { 'set-cookie': cookies } = answer.headers;
    return cookies === undefined ? {} : { 'set-cookie': cookies };
  }
}

function interactionOf(
  { uid, prompt, session }: LibraryInteraction,
  request: Omit<Interaction, 'uid' | 'needs' | 'person'>,
): Interaction {
  return { uid, needs: prompt.name === 'consent' ? 'consent' : 'login', ...request, person: session?.accountId };
}
