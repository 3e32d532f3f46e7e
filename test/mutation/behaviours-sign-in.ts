import type { Mutation } from './mutation.ts';

const CALLBACK = 'plugins/auth-server/sign-in/callback.ts';
const CHAIN = 'plugins/auth-server/sign-in/chain.ts';
const CONNECT = 'plugins/auth-server/sign-in/connect.ts';
const CONSENTS = 'plugins/auth-server/sign-in/consents.ts';
const HTML = 'plugins/auth-server/pages/html.ts';
const KEYS = 'plugins/auth-server/sign-in/page-keys.ts';
const LEGS = 'plugins/auth-server/sign-in/legs.ts';
const PAGE = 'plugins/auth-server/sign-in/interaction-page.ts';

/** The pages on which people sign in. */
export const signInBehaviours: readonly Mutation[] = [
  ['choice.sign-in.first-names', CHAIN, "({ loginPolicy }) => loginPolicy === 'required'", '() => true'],
  ['choice.sign-in.browser-bound', CALLBACK, 'value === undefined || bindingHash(value) !== found.binding', 'false'],
  ['choice.sign-in.browser-bound', LEGS, 'LEG_MS = 10 * 60_000', 'LEG_MS = 20 * 60_000'],
  ['choice.sign-in.redirects', PAGE, 'MAX_LEGS = 20', 'MAX_LEGS = 21'],
  ['choice.sign-in.consent', CONSENTS, 'each.redirect === wanted &&', ''],
  ['choice.sign-in.consent', CONSENTS, 'CONSENT_MS = 90 *', 'CONSENT_MS = 100 *'],
  ['choice.sign-in.consent-form', PAGE, 'state?.binding !== bindingHash(value)', 'state === undefined'],
  ['choice.sign-in.consent-form', PAGE, "!keys.isFormToken(token, 'sign-in', interaction.uid, value)", 'false'],
  ['choice.sign-in.connect-link', CONNECT, 'person !== ticket.person || shown === undefined', 'shown === undefined'],
  ['choice.sign-in.connect-link', KEYS, 'TICKET_MS = 10 * 60_000', 'TICKET_MS = 20 * 60_000'],
  ['choice.sign-in.pages', HTML, "if (typeof value === 'string') return escaped(value);", ''],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
