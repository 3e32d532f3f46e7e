import { type Inbound, present } from '@toolmgr/core';
import { clientName, consentPage } from '../pages/consent-page.ts';
import { continuePage } from '../pages/continue-page.ts';
import { formOf } from '../pages/form.ts';
import { redirectAnswer } from '../pages/page.ts';
import { problemPage } from '../pages/problem-page.ts';
import type { BrowserAnswer, Interaction, InteractionOutcome } from '../provider/interactions.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { type Binding, bindingHash } from './binding-cookies.ts';
import { nextProvider } from './chain.ts';
import { failureOf, type PageAnswer, type SignInContext } from './context.ts';
import { formFields } from './forms.ts';
import { PROBLEMS, providerAway } from './problems.ts';
import type { Progress } from './progress.ts';

/** The page of one authorization request: sends the browser from provider to provider, then asks for consent. */
export interface InteractionPage {
  readonly get: PageAnswer;
  /** Takes the choice of a form of the page. */
  readonly post: PageAnswer;
}

/** One request for the page. */
interface At {
  readonly inbound: Inbound;
  readonly interaction: Interaction;
  readonly binding: Binding;
  readonly progress: Progress;
  /** The answer to a form may not be a redirect to another site. */
  readonly isForm: boolean;
}

/** Redirects to providers in one sign-in, so that reloads of its page do not fill the storage. */
const MAX_LEGS = 20;

/** Creates the page. */
export function createInteractionPage(context: SignInContext): InteractionPage {
  const {
    accounts,
    consents,
    cookies,
    identityProvider,
    interactions,
    keys,
    legs,
    paths,
    progress,
    report,
    upstreams,
  } = context;

  /**
   * The interaction that the path names; the browser has to be the one that began it, and the person whose consent it waits for has
   * to be signed in with it still.
   */
  const interactionOf = async (inbound: Inbound): Promise<Interaction | undefined> => {
    const found = await interactions.find(inbound);
    if (found === undefined || !inbound.path.endsWith(`/${found.uid}`)) return undefined;
    const isOfPerson = found.needs === 'login' || (await interactions.personOf(inbound)) === found.person;
    return isOfPerson ? found : undefined;
  };
  const pathOf = ({ interaction }: At): string => `${paths.signIn}/${encodeURIComponent(interaction.uid)}`;
  const formToken = ({ interaction, binding }: At): string => keys.formToken('sign-in', interaction.uid, binding.value);

  const proceed = async (at: At): Promise<BrowserAnswer> => {
    const { interaction, progress: state } = at;
    if (state.failure !== undefined) return finish(at, state.failure);
    const signedIn = state.isOther || interaction.needs === 'login' ? undefined : interaction.person;
    const person = state.person ?? signedIn;
    const connections = person === undefined ? [] : await accounts.connections(person);
    const next = nextProvider(upstreams, { person, connected: state.connected, connections });
    if (next !== undefined) return sendTo(at, next, person);
    const known = person === undefined ? undefined : await accounts.person(person);
    if (known === undefined)
      return finish(at, { error: 'server_error', description: 'the person is not known any more' });
    if (interaction.needs === 'login' || interaction.person !== known.id) {
      return finish(at, { login: { person: known.id } });
    }
    if (state.isAllowed || (await needsNoClick(known.id, interaction))) return finish(at, { consent: true });
    return consentPage({
      interaction,
      person: known,
      action: pathOf(at),
      csrf: formToken(at),
      cookies: at.binding.cookies,
    });
  };

  const needsNoClick = async (person: string, interaction: Interaction): Promise<boolean> => {
    if (interaction.asksConsent) return false;
    return !interaction.client.isUnknown || consents.isGiven(person, interaction);
  };

  const sendTo = async (at: At, upstream: Upstream, person: string | undefined): Promise<BrowserAnswer> => {
    const { binding, interaction, progress: state, isForm } = at;
    if (state.legs >= MAX_LEGS) return problemPage(PROBLEMS.tooMany);
    await progress.update(interaction.uid, (before) => ({ ...before, legs: before.legs + 1 }));
    const isFirst = upstream === identityProvider;
    const purpose = { kind: 'sign-in' as const, uid: interaction.uid, ...(isFirst ? {} : { person }) };
    try {
      const isAsked = interaction.asksLogin && interaction.needs === 'login';
      const options = isFirst
        ? { wantsOther: state.isOther || isAsked, maxAgeS: isAsked ? interaction.maxAgeS : undefined }
        : {};
      const location = await legs.begin(upstream, bindingHash(binding.value), purpose, options);
      if (isForm) return continuePage(location, `Continue at ${upstream.name}`, binding.cookies);
      return redirectAnswer(location, binding.cookies);
    } catch (cause) {
      failureOf(cause, context, upstream);
      const cancel = { name: 'choice', value: 'cancel', label: 'Cancel the sign-in' };
      const form = formOf({ action: pathOf(at), csrf: formToken(at), buttons: [cancel] });
      return problemPage(providerAway(upstream.name, pathOf(at), form, binding.cookies));
    }
  };

  const finish = async (at: At, outcome: InteractionOutcome): Promise<BrowserAnswer> => {
    const { inbound, interaction, binding, isForm } = at;
    const { uid, client } = interaction;
    const answer = await interactions.finish(inbound, outcome);
    if ('login' in outcome) {
      report({ change: 'sign_in', outcome: 'success', person: outcome.login.person, client: client.id, inbound });
    }
    const { location } = answer.headers;
    const set = [answer.headers['set-cookie'] ?? []].flat();
    if (isForm && typeof location === 'string') {
      const soon = cookies.clearSoon(uid, binding.value);
      return continuePage(location, `Returning to ${clientName(client.name)}`, [...set, soon]);
    }
    await Promise.allSettled([progress.end(uid)]); // it expires by itself
    return { ...answer, headers: { ...answer.headers, 'set-cookie': [...set, cookies.clear(uid)] } };
  };

  const reportConsent = ({ inbound, interaction }: At, outcome: 'success' | 'denied'): void => {
    const { person, client, scopes } = interaction;
    report({ change: 'consent', outcome, ...present({ person }), client: client.id, scopes, inbound });
  };

  const chosen: Readonly<Record<string, (at: At) => Promise<BrowserAnswer>>> = {
    async allow(at) {
      const { interaction } = at;
      const { person, needs, uid } = interaction;
      const isAsked = needs === 'consent' && person !== undefined && (at.progress.person ?? person) === person;
      if (!isAsked || at.progress.isOther || at.progress.failure !== undefined) return proceed(at);
      await consents.remember(person, interaction);
      reportConsent(at, 'success');
      const allowed = await progress.update(uid, (before) => ({ ...before, isAllowed: true }));
      return proceed({ ...at, progress: allowed ?? at.progress }); // finishes when no provider is missing
    },
    deny(at) {
      reportConsent(at, 'denied');
      return finish(at, { error: 'access_denied', description: 'the person did not allow it' });
    },
    cancel: (at) =>
      finish(at, { error: 'temporarily_unavailable', description: 'an identity provider does not answer' }),
    async other(at) {
      const { uid } = at.interaction;
      return proceed({ ...at, progress: await progress.begin(uid, bindingHash(at.binding.value), at.progress, true) });
    },
  };

  return {
    async get(inbound) {
      const interaction = await interactionOf(inbound);
      if (interaction === undefined) return problemPage(PROBLEMS.signInExpired);
      const binding = cookies.ensure(inbound, interaction.uid);
      const hash = bindingHash(binding.value);
      const known = await progress.get(interaction.uid);
      const state = known?.binding === hash ? known : await progress.begin(interaction.uid, hash, known);
      return proceed({ inbound, interaction, binding, progress: state, isForm: false });
    },
    async post(inbound, body) {
      const interaction = await interactionOf(inbound);
      if (interaction === undefined) return problemPage(PROBLEMS.signInExpired);
      const fields = formFields(inbound, body);
      const value = cookies.read(inbound, interaction.uid);
      const state = await progress.get(interaction.uid);
      if (value === undefined || state?.binding !== bindingHash(value)) return problemPage(PROBLEMS.formInvalid);
      const token = fields?.get('csrf') ?? '';
      if (!keys.isFormToken(token, 'sign-in', interaction.uid, value)) return problemPage(PROBLEMS.formInvalid);
      const choice = fields?.get('choice') ?? '';
      const choose = Object.hasOwn(chosen, choice) ? chosen[choice] : undefined;
      if (choose === undefined) return problemPage(PROBLEMS.unknownForm);
      return choose({ inbound, interaction, binding: { value, cookies: [] }, progress: state, isForm: true });
    },
  };
}
