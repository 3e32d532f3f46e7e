import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

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
 * `secrets`: the first one signs, all of them verify; other keys are derived from them. `now` returns epoch milliseconds.
 * Tokens of forms end with the record they belong to; only tickets have an end of their own.
 */
export function createPageKeys(secrets: readonly Buffer[], now: () => number): PageKeys {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'toolmgr sign-in pages', 32)));
  const signed = (text: string, key = keys[0]): string => {
    if (key === undefined) throw new Error('the sign-in pages have no key');
    return createHmac('sha256', key).update(text).digest('base64url');
  };
  const verifies = (text: string, signature: string): boolean =>
    keys.some((key) => isEqual(signed(text, key), signature));
  return {
    formToken: (purpose, ...values) => signed(JSON.stringify(['form', purpose, ...values])),
    isFormToken: (token, purpose, ...values) => verifies(JSON.stringify(['form', purpose, ...values]), token),
    ticket(person, provider) {
      const claims = Buffer.from(JSON.stringify({ person, provider, untilMs: now() + TICKET_MS })).toString(
        'base64url',
      );
      return `${claims}.${signed(`ticket.${claims}`)}`;
    },
    readTicket(text) {
      const [claims = '', signature = '', ...others] = text.length > MAX_TICKET ? [] : text.split('.');
      if (others.length > 0 || !verifies(`ticket.${claims}`, signature)) return undefined;
      const ticket = TICKET.parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
      return ticket.untilMs > now() ? ticket : undefined;
    },
  };
}

const MAX_TICKET = 2_048;
const TICKET = z.object({ person: z.string(), provider: z.string(), untilMs: z.number() });

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
