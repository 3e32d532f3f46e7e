import { type Operation, operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { MAX_SECRET_BYTES, type SecretStore, secretNameProblem } from '@toolmgr/plugins/kit/secrets';
import { PASSWORD_VARIABLE } from '@toolmgr/plugins/secrets';
import { z } from 'zod';
import { chooseProvider } from '../../shared/secrets/provider.ts';
import { PROVIDERS, type SecretsProvider } from '../../shared/secrets/providers.ts';
import { fallbackOf, openSecretStore } from '../../shared/secrets/secret-store.ts';
import { changePassword, setUpProvider } from '../../shared/secrets/set-up-provider.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const key = z
  .string()
  .superRefine((given, context) => {
    const message = secretNameProblem(given);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('name of the secret');

const value = z
  .string()
  .min(1, 'the value is empty')
  .refine((given) => Buffer.byteLength(given) <= MAX_SECRET_BYTES, `has more than ${MAX_SECRET_BYTES} bytes`)
  .refine((given) => !given.includes('\0'), 'has a NUL character, which no variable can hold')
  .describe('the secret; it is never returned');

const password = z
  .string()
  .min(8, 'a password has at least 8 characters')
  .max(1024)
  .refine((given) => /^\P{Cc}*$/u.test(given), 'has a control character')
  .describe('password of the encrypted file; it is never returned');

const secretResult = z.strictObject({ key: z.string(), message: z.string() });
const setupResult = z.strictObject({ message: z.string(), provider_type: z.string() });

const SETUP = { message: 'the provider is set up', provider_type: 'encrypted' };

/** Operations about secrets. They act on the provider that the user has chosen, whose name here is `default`. */
export function secretOperations(env: Environment): readonly Operation[] {
  return [...providerOperations(env), ...keyOperations(env), ...writeOperations(env)];
}

function providerOperations(env: Environment): readonly Operation[] {
  return [
    operation({
      id: 'setUpSecretsProvider',
      method: 'POST',
      path: '/api/v1beta/secrets',
      tag: 'secrets',
      summary: 'Set up or reconfigure secrets provider',
      description:
        'The provider is tested before it is recorded. The password of a new encrypted file is kept in the keyring of the system, or without one in a file that only the user can read.',
      body: z.strictObject({
        provider_type: z.enum(PROVIDERS).describe('keyring: the secrets themselves are in the keyring of the system'),
        password: password.optional(),
      }),
      bodyExample: { provider_type: 'encrypted' },
      answers: { 201: { description: 'the provider is set up', schema: setupResult, example: SETUP } },
      problems: ['bad_request', 'internal_error'],
      async run({ body: { provider_type: provider, password: given }, context }) {
        if (given !== undefined && provider !== 'encrypted')
          return problem('bad_request', 'password is for the provider encrypted only');
        // a new file with another password could not be opened
        if (given !== undefined && env[PASSWORD_VARIABLE] && env[PASSWORD_VARIABLE] !== given)
          return problem('bad_request', `password: the variable ${PASSWORD_VARIABLE} of the manager has another one`);
        const message = await setUpProvider({ provider, password: given, env, signal: context.signal });
        context.publish({ type: 'secret', name: 'default' });
        return { status: 201, body: { message, provider_type: provider } };
      },
    }),
    operation({
      id: 'getSecretsProvider',
      method: 'GET',
      path: '/api/v1beta/secrets/default',
      tag: 'secrets',
      summary: 'Get the secrets provider and what it can do',
      answers: {
        200: {
          description: 'the provider',
          schema: z.strictObject({
            name: z.literal('default'),
            provider_type: z.enum(PROVIDERS),
            capabilities: z.strictObject({
              can_read: z.boolean(),
              can_write: z.boolean(),
              can_delete: z.boolean(),
              can_list: z.boolean(),
              can_cleanup: z.boolean(),
            }),
          }),
          example: {
            name: 'default',
            provider_type: 'encrypted',
            capabilities: { can_read: true, can_write: true, can_delete: true, can_list: true, can_cleanup: true },
          },
        },
      },
      problems: ['not_found'],
      tool: { name: 'get_secrets_provider', readOnly: true },
      run: () =>
        withStore(env, async (store, provider) => ({
          status: 200,
          body: { name: 'default', provider_type: provider, capabilities: store.capabilities },
        })),
    }),
    operation({
      id: 'changeSecretsPassword',
      method: 'POST',
      path: '/api/v1beta/secrets/default/password',
      tag: 'secrets',
      summary: 'Change the password of the encrypted file',
      description: 'Without a password one is generated. The secrets stay readable whenever the manager is killed.',
      body: z.strictObject({ password: password.optional() }),
      bodyExample: {},
      answers: { 200: { description: 'the file has the new password', schema: setupResult, example: SETUP } },
      problems: ['not_found', 'provider_read_only', 'conflict', 'internal_error'],
      run: ({ body, context }) =>
        withStore(env, async (_store, provider) => {
          if (provider !== 'encrypted')
            return problem('provider_read_only', `the provider ${provider} has no password`);
          const changed = await changePassword(env, body.password);
          if (changed.kind === 'no-file') return problem('not_found', NOT_SET_UP);
          if (changed.kind === 'of-variable')
            return problem(
              'conflict',
              'the password is that of TOOLMGR_SECRETS_PASSWORD: start the manager without it first',
            );
          context.publish({ type: 'secret', name: 'default' });
          return { status: 200, body: { message: changed.message, provider_type: provider } };
        }),
    }),
  ];
}

function keyOperations(env: Environment): readonly Operation[] {
  return [
    operation({
      id: 'listSecrets',
      method: 'GET',
      path: '/api/v1beta/secrets/default/keys',
      tag: 'secrets',
      summary: 'List the names of the secrets',
      answers: {
        200: {
          description: 'names, never values',
          schema: z.strictObject({ keys: z.array(z.strictObject({ key: z.string(), description: z.string() })) }),
          example: { keys: [{ key: 'GITHUB_TOKEN', description: 'in the encrypted file' }] },
        },
      },
      problems: ['not_found', 'provider_read_only', 'internal_error'],
      tool: { name: 'list_secrets', readOnly: true },
      run: ({ context }) =>
        withStore(env, async (store, provider) =>
          store.list === undefined
            ? problem('provider_read_only', `the provider ${provider} cannot list its secrets`)
            : { status: 200, body: { keys: await store.list(context.signal) } },
        ),
    }),
    operation({
      id: 'deleteSecret',
      method: 'DELETE',
      path: '/api/v1beta/secrets/default/keys/{key}',
      tag: 'secrets',
      summary: 'Delete a secret',
      params: z.strictObject({ key }),
      answers: { 204: { description: 'it is deleted' } },
      problems: ['not_found', 'provider_read_only', 'internal_error'],
      tool: { name: 'delete_secret', destructive: true, idempotent: true },
      run: ({ path, context }) =>
        withStore(env, async (store, provider) => {
          if (store.remove === undefined) return readOnly(provider);
          if (!(await store.remove(path.key))) return problem('not_found', `there is no secret ${path.key}`);
          context.publish({ type: 'secret', name: path.key });
          return { status: 204 };
        }),
    }),
  ];
}

function writeOperations(env: Environment): readonly Operation[] {
  return [
    operation({
      id: 'createSecret',
      method: 'POST',
      path: '/api/v1beta/secrets/default/keys',
      tag: 'secrets',
      summary: 'Create a new secret',
      body: z.strictObject({ key, value }),
      bodyExample: { key: 'GITHUB_TOKEN', value: 'the token' },
      answers: {
        201: {
          description: 'the secret is stored',
          schema: secretResult,
          example: { key: 'GITHUB_TOKEN', message: 'the secret is stored' },
        },
      },
      problems: ['not_found', 'provider_read_only', 'conflict', 'internal_error'],
      run: ({ body, context }) =>
        withStore(env, async (store, provider) => {
          if (store.write === undefined) return readOnly(provider);
          if (fallbackOf(env, body.key) !== undefined)
            return problem('conflict', `the variable TOOLMGR_SECRET_${body.key} holds a secret of this name`);
          if ((await store.write(body.key, body.value, 'create')) === 'exists')
            return problem('conflict', `there is a secret ${body.key} already: update it`);
          context.publish({ type: 'secret', name: body.key });
          return { status: 201, body: { key: body.key, message: 'the secret is stored' } };
        }),
    }),
    operation({
      id: 'updateSecret',
      method: 'PUT',
      path: '/api/v1beta/secrets/default/keys/{key}',
      tag: 'secrets',
      summary: 'Update a secret',
      description: 'Workloads get the new value at their next start.',
      params: z.strictObject({ key }),
      body: z.strictObject({ value }),
      bodyExample: { value: 'the new token' },
      answers: {
        200: {
          description: 'the secret has the new value',
          schema: secretResult,
          example: { key: 'GITHUB_TOKEN', message: 'the secret is replaced' },
        },
      },
      problems: ['not_found', 'provider_read_only', 'internal_error'],
      run: ({ path, body, context }) =>
        withStore(env, async (store, provider) => {
          if (store.write === undefined) return readOnly(provider);
          if ((await store.write(path.key, body.value, 'update')) === 'missing')
            return problem('not_found', `there is no secret ${path.key}: create it`);
          context.publish({ type: 'secret', name: path.key });
          return { status: 200, body: { key: path.key, message: 'the secret has the new value' } };
        }),
    }),
  ];
}

const NOT_SET_UP = 'no provider of secrets is set up: POST /api/v1beta/secrets, or toolmgr secret setup';

type Run = (store: SecretStore, provider: SecretsProvider) => Promise<{ status: number; body?: unknown } | Problem>;

/** Runs with the provider of the user. It never asks for a password: no user sits at the terminal of a manager. */
async function withStore(env: Environment, run: Run) {
  const { provider, isSetUp } = await chooseProvider(env);
  if (!isSetUp) return problem('not_found', NOT_SET_UP);
  return run(openSecretStore(provider, { env, asks: false, warn: () => {} }), provider);
}

function readOnly(provider: SecretsProvider): Problem {
  return problem('provider_read_only', `the provider ${provider} is read-only: change its secrets where they are`);
}
