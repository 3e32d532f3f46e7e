import { ANY_CLIENT } from './config.ts';
import { mayActOf, type Subject } from './subject-token.ts';

/** Who wants to act. */
export interface Delegate {
  readonly clientId: string;
  /** Listed in `delegateClients`; otherwise it registered itself. */
  readonly isConfigured: boolean;
  /** `sub` of the actor token, else the client id. */
  readonly actor: string;
}

/**
 * Whether a delegate may act for the subject of a token.
 *
 * Any of these, in this order: the token names the actor in `may_act`; the issuer's configuration accepts the token's own actor;
 * the token was issued to the caller, or is of this server and the caller is configured. For tokens of another issuer the
 * caller has to be in its `allowedDelegateClients`.
 */
export function mayDelegate(subject: Subject, { clientId, isConfigured, actor }: Delegate): boolean {
  const { from, claims, client } = subject;
  if (from === undefined) return mayActOf(claims) === actor || client === clientId || isConfigured;
  const { allowedDelegateClients, allowMayAct, allowedActors } = from.config;
  const isListed = allowedDelegateClients.includes(clientId);
  if (!isConfigured || !(isListed || allowedDelegateClients.includes(ANY_CLIENT))) return false;
  if (allowMayAct && isListed && mayActOf(claims) === actor) return true;
  if (client !== undefined && allowedActors.includes(client)) return true;
  return from.matches(claims) || client === clientId;
}
