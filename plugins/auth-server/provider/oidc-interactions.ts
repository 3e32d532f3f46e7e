import type { Inbound, ResponseHeaders } from '@toolmgr/core';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Interaction, Interactions } from './interactions.ts';
import { answerHeaders, libraryCall } from './node-bridge.ts';
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

  /** A request of the library that has the cookies of `inbound`. */
  function contextOf({ headers, remoteAddress }: Inbound) {
    const inbound = { method: 'GET', headers, query: undefined, remoteAddress };
    const { request, response } = libraryCall({ inbound, path: SIGN_IN_PATH, baseUrl: browserBase });
    return provider.createContext(request, response);
  }

  /** The interaction of the cookie, if it is the one of the page's path. */
  async function found(inbound: Inbound): Promise<LibraryInteraction | undefined> {
    const { req, res } = contextOf(inbound);
    try {
      const interaction = await provider.interactionDetails(req, res);
      const uid = inbound.path.split(`${SIGN_IN_PATH}/`)[1];
      return uid === undefined || uid === interaction.uid ? interaction : undefined;
    } catch (cause) {
      if (cause instanceof errors.SessionNotFound) return undefined;
      throw cause;
    }
  }

  /** Removes the person of before: the library would show a page of its own that asks to sign out first. */
  async function changePerson(inbound: Inbound, interaction: LibraryInteraction): Promise<void> {
    const session = await provider.Session.get(contextOf(inbound));
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
      const client = await provider.Client.find(String(clientId));
      if (client === undefined) return undefined;
      return interactionOf(interaction, {
        client: {
          id: client.clientId,
          name: client.clientName,
          uri: client.clientUri,
          isUnknown: needsConsent(client.clientId),
          hasSecret: client.clientAuthMethod !== 'none',
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
      const { req, res } = contextOf(inbound);
      const location = await provider.interactionResult(req, res, result);
      return { status: 303, headers: { ...answerHeaders(res), location, 'cache-control': 'no-store' } };
    },
    async personOf(inbound) {
      return (await provider.Session.get(contextOf(inbound))).accountId;
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
    const ctx = contextOf(inbound);
    const value = await change(await provider.Session.get(ctx));
    ctx.cookies.set(provider.cookieName('session'), value ?? null, sessionCookie);
    const { 'set-cookie': cookies } = answerHeaders(ctx.res);
    return cookies === undefined ? {} : { 'set-cookie': cookies };
  }
}

function interactionOf(
  { uid, prompt, session }: LibraryInteraction,
  request: Omit<Interaction, 'uid' | 'needs' | 'person'>,
): Interaction {
  return { uid, needs: prompt.name === 'consent' ? 'consent' : 'login', ...request, person: session?.accountId };
}
