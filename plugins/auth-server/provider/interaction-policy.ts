import { type Grant, type KoaContextWithOIDC, interactionPolicy as library } from 'oidc-provider';

/** When a person has to do something before a client gets a code. */
export interface SignInNeeds {
  /** A signed-in person has to sign in at a provider again, e.g. because a required one is not connected. */
  needsSignIn(person: string): Promise<boolean>;
  /** The client is not configured: the person has to consent. */
  needsConsent(clientId: string): boolean;
}

/** Claims of an ID token by scope. */
export const ID_TOKEN_CLAIMS = { openid: ['sub'], profile: ['name'], email: ['email'] };

/** Two prompts: `login`, then `consent` for clients that registered themselves. */
export function interactionPolicy({ needsSignIn, needsConsent }: SignInNeeds) {
  const { Check, Prompt } = library;
  const login = library.base().get('login');
  if (login === undefined) throw new Error('the OAuth library has no login prompt');
  login.checks.add(
    new Check('not_connected', 'End-User authentication is required', async ({ oidc }) => {
      const person = oidc.session?.accountId;
      if (person === undefined || oidc.result?.login !== undefined) return Check.NO_NEED_TO_PROMPT;
      return needsSignIn(person);
    }),
  );
  login.checks.add(
    new Check('max_age_zero', 'End-User authentication is required', ({ oidc }) => {
      // the library compares whole seconds, and a session of this second is not older than 0
      return Number(oidc.params?.max_age ?? Number.NaN) === 0 && oidc.result?.login === undefined;
    }),
  );
  const consent = new Prompt(
    { name: 'consent', requestable: true },
    new Check('unknown_client', 'the End-User has to consent', ({ oidc }) => {
      return oidc.result?.consent === undefined && needsConsent(oidc.client?.clientId ?? '');
    }),
  );
  return [login, consent];
}

/**
 * The grant of one authorization request: new for each code, because it becomes the session of its tokens. `undefined` before
 * the person has consented.
 */
export async function grantOfRequest(
  { oidc }: KoaContextWithOIDC,
  { needsConsent }: SignInNeeds,
): Promise<Grant | undefined> {
  const { client, session, params, provider, result } = oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  if (result?.consent === undefined && needsConsent(client.clientId)) return undefined;
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  const scopes = String(params?.scope ?? '').split(' ');
  // the scopes of the ID token, which is issued with openid
  grant.addOIDCScope(scopes.filter((scope) => Object.hasOwn(ID_TOKEN_CLAIMS, scope)).join(' '));
  for (const resource of Object.keys(oidc.resourceServers ?? {})) {
    grant.addResourceScope(resource, String(params?.scope ?? ''));
  }
  await grant.save();
  return grant;
}
