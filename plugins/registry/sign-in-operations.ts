import { type Operation, operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { DEFAULT_REGISTRY } from './new-source.ts';
import { REGISTRIES_PATH, REGISTRY_TAG } from './read-operations.ts';
import type { ConfiguredRegistry } from './registries.ts';
import type { RegistryDeps } from './registry-deps.ts';
import { noRegistry } from './registry-problem.ts';
import { contractSource } from './registry-summary.ts';

/** Time of the person, in milliseconds. */
const SIGN_IN_MS = 5 * 60_000;

const which = {
  name: z.string().max(200).optional().describe('name of the registry; default: the one whose sign-in is set up'),
};

/** Sign-in and sign-out at registries. */
export function signInOperations({ registries, signIn }: RegistryDeps): readonly Operation[] {
  const wanted = async (name: string | undefined): Promise<ConfiguredRegistry | Problem> => {
    const all = await registries.configured();
    const withAuth = all.filter(({ auth }) => auth !== undefined);
    const chosen =
      name === undefined
        ? (contractSource(withAuth) ?? (withAuth.length === 1 ? withAuth[0] : undefined))
        : all.find((each) => each.name === name);
    if (chosen?.auth !== undefined) return chosen;
    if (name === undefined && withAuth.length > 1) {
      const names = withAuth.map((each) => each.name).join(', ');
      return problem('bad_request', `several registries have a sign-in: give name, one of ${names}`);
    }
    if (name !== undefined && name !== DEFAULT_REGISTRY && chosen === undefined) {
      return noRegistry(all.map((each) => each.name));
    }
    return problem('bad_request', 'no sign-in is set up for this registry: give auth when its source is set');
  };
  return [
    operation({
      id: 'logInToRegistry',
      method: 'POST',
      path: `${REGISTRIES_PATH}/auth/login`,
      tag: REGISTRY_TAG,
      summary: 'Sign in to a registry',
      description:
        'Opens the browser of the machine on which toolmgr runs, and answers when the person has signed in. With `skip_browser` the answer has the URL at once, and the sign-in ends in the background.',
      body: z.strictObject({
        ...which,
        skip_browser: z
          .boolean()
          .optional()
          .describe('the caller opens the URL; it works on the machine of toolmgr only'),
      }),
      bodyOptional: true,
      bodyExample: { name: 'default' },
      answers: {
        200: {
          description: 'The person has signed in.',
          schema: z.object({ status: z.literal('authenticated') }),
          example: { status: 'authenticated' },
        },
        202: {
          description: 'The person can open the URL for five minutes. An event says when the sign-in is done.',
          schema: z.object({ status: z.literal('pending'), url: z.string().describe('page of the identity provider') }),
          example: { status: 'pending', url: 'https://login.example.com/authorize?…' },
        },
      },
      problems: ['not_found', 'upstream_failed'],
      timeLimit: 'long',
      async run({ body = {}, context: { signal, publish } }) {
        const registry = await wanted(body.name);
        if ('problem' in registry) return registry;
        const opensBrowser = body.skip_browser !== true;
        const late = AbortSignal.timeout(SIGN_IN_MS);
        const ending = opensBrowser ? AbortSignal.any([late, signal]) : late;
        const started = await signIn.start(registry, { opensBrowser, signal: ending });
        if ('problem' in started) return problem('upstream_failed', started.problem);
        const done = started.done.then(async (outcome) => {
          if (outcome.kind === 'done') publish({ type: 'registry', name: registry.name });
          return outcome;
        });
        if (!opensBrowser) {
          // its end is seen in auth_status
          done.catch(() => {});
          return { status: 202, body: { status: 'pending', url: started.url } };
        }
        const outcome = await done;
        if (outcome.kind === 'failed') return problem('upstream_failed', outcome.reason);
        return { status: 200, body: { status: 'authenticated' } };
      },
    }),
    operation({
      id: 'logOutOfRegistry',
      method: 'POST',
      path: `${REGISTRIES_PATH}/auth/logout`,
      tag: REGISTRY_TAG,
      summary: 'Sign out of a registry',
      description: 'Forgets the tokens of this registry.',
      body: z.strictObject(which),
      bodyOptional: true,
      bodyExample: { name: 'default' },
      answers: {
        200: {
          description: 'No token is kept.',
          schema: z.object({ status: z.literal('logged_out') }),
          example: { status: 'logged_out' },
        },
      },
      problems: ['not_found'],
      async run({ body = {}, context: { publish } }) {
        const registry = await wanted(body.name);
        if ('problem' in registry) return registry;
        await signIn.end(registry);
        publish({ type: 'registry', name: registry.name });
        return { status: 200, body: { status: 'logged_out' } };
      },
    }),
  ];
}
