import { z } from 'zod';
import { remoteUrlProblem } from '../safe-http/remote-http.ts';

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/; // RFC 6749 §3.3

/** URL of a token endpoint: https, or http on this machine. Private addresses are allowed, because the operator chose it. */
export const tokenUrl = z.string().superRefine((url, context) => {
  const message = tokenUrlProblem(url, 'loopback');
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Why a URL cannot be that of a token endpoint. */
export function tokenUrlProblem(url: string, allowHttp: true | 'loopback'): string | undefined {
  return remoteUrlProblem(url, { allowPrivateAddresses: true, allowHttp });
}

/** Scopes of a token. */
export const scopes = z
  .array(z.string().regex(SCOPE, 'expected a scope (RFC 6749 §3.3): no spaces and quotes'))
  .default([]);

/** A text that is not empty. */
export const filled = z.string().min(1, 'expected a text that is not empty');

/** Client credentials in options, under three names. */
export interface ClientOptions {
  readonly id: string | undefined;
  readonly secret: string | undefined;
  readonly secretEnv: string | undefined;
}

/** What is wrong with client credentials; `name` is that of the id, e.g. `idpClientId`. */
export function clientProblem({ id, secret, secretEnv }: ClientOptions, name: string): string | undefined {
  const secretName = name.replace(/Id$/, 'Secret');
  if (secret !== undefined && secretEnv !== undefined) return `set only one of ${secretName} and ${secretName}Env`;
  const hasSecret = secret !== undefined || secretEnv !== undefined;
  return hasSecret && id === undefined ? `a client secret needs its ${name}` : undefined;
}
