import { createHash, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { createSignedTexts } from '../provider/signed-texts.ts';

/** Signs what the pages get back from browsers: form tokens and links. */
export interface PageKeys {
  /** A token for a form. It fits only the same purpose and values, e.g. the cookie of the browser. */
  formToken(purpose: string, ...values: readonly string[]): string;
  isFormToken(token: string, purpose: string, ...values: readonly string[]): boolean;
  /** A signed text for a link that lets one person connect one provider. */
  ticket(person: string, provider: string): string;
  /** `undefined` for a ticket that is forged, damaged or expired. */
  readTicket(text: string): Ticket | undefined;
}

/** Who may connect what. */
export interface Ticket {
  readonly person: string;
  readonly provider: string;
  /** Epoch milliseconds. */
  readonly untilMs: number;
}

/** How long a link to connect an account is valid. */
export const TICKET_MS = 10 * 60_000;

/**
 * `secrets`: the first one signs, all of them verify. `now` returns epoch milliseconds. Tokens of forms end with the record
 * they belong to; only tickets have an end of their own.
 */
export function createPageKeys(secrets: readonly KeyObject[], now: () => number): PageKeys {
  const forms = createSignedTexts(secrets, 'forms');
  const tickets = createSignedTexts(secrets, 'tickets');
  return {
    formToken: (purpose, ...values) => forms.sign(digestOf(purpose, values)),
    isFormToken: (token, purpose, ...values) => forms.verify(token) === digestOf(purpose, values),
    ticket(person, provider) {
      const claims = JSON.stringify({ person, provider, untilMs: now() + TICKET_MS });
      return tickets.sign(Buffer.from(claims).toString('base64url'));
    },
    readTicket(text) {
      const claims = tickets.verify(text);
      if (claims === undefined) return undefined;
      const ticket = TICKET.parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
      return ticket.untilMs > now() ? ticket : undefined;
    },
  };
}

const TICKET = z.object({ person: z.string(), provider: z.string(), untilMs: z.number() });

function digestOf(purpose: string, values: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([purpose, ...values]))
    .digest('base64url');
}
