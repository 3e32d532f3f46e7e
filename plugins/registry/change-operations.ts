import { type Operation, operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { registrySummaryShape } from './contract-shapes.ts';
import {
  authSettings,
  BUILT_IN,
  DEFAULT_REGISTRY,
  readSourceSettings,
  registryNameFault,
  type SourceTried,
  sourceSettings,
  trySource,
} from './new-source.ts';
import { REGISTRIES_PATH, REGISTRY_TAG, registryParam, SUMMARY } from './read-operations.ts';
import type { ConfiguredRegistry } from './registries.ts';
import type { RegistryDeps } from './registry-deps.ts';
import { loadProblem, noRegistry } from './registry-problem.ts';
import { contractSource, summaryOf } from './registry-summary.ts';

const TRY_PROBLEMS = ['forbidden', 'not_found', 'upstream_failed', 'upstream_timeout'] as const;
const EXAMPLE = { api_url: 'https://registry.example.com' };

/** Operations that change which registries are used, or load them again. */
export function changeOperations(deps: RegistryDeps): readonly Operation[] {
  const { registries, settings, tokens } = deps;
  const mayChange = async (): Promise<Problem | undefined> => {
    const locked = await settings.lockedBy();
    return locked === undefined ? undefined : problem('forbidden', locked);
  };
  return [
    operation({
      id: 'updateRegistry',
      method: 'PUT',
      path: `${REGISTRIES_PATH}/{name}`,
      tag: REGISTRY_TAG,
      summary: 'Update registry configuration',
      description:
        'Sets where the default registry comes from: one of `url`, `api_url` and `local_path`. Without one it is the built-in document again. The source is loaded first; it is saved only when it can be used. A sign-in that is left out is removed.',
      params: z.strictObject({ name: registryParam }),
      body: sourceSettings,
      bodyExample: EXAMPLE,
      answers: {
        200: {
          description: 'The type of the new source.',
          schema: z.object({ type: z.enum(['file', 'url', 'api', 'default']) }),
          example: { type: 'api' },
        },
      },
      problems: TRY_PROBLEMS,
      tool: { name: 'update_registry', destructive: true, idempotent: true },
      async run({ path, body, context }) {
        if (path.name !== DEFAULT_REGISTRY) return notDefault(await registries.configured());
        const locked = await mayChange();
        if (locked !== undefined) return locked;
        const before = contractSource(await registries.configured());
        const wanted = readSourceSettings(DEFAULT_REGISTRY, body);
        if ('fault' in wanted) return wrongField(wanted);
        if (wanted.source.type === 'default') {
          await settings.setDefault(undefined);
        } else {
          const refused = refusal(wanted, await trySource(registries, wanted, context.signal));
          if (refused !== undefined) return refused;
          await settings.setDefault(wanted);
        }
        if (before?.auth !== undefined && !isSameSignIn(before, wanted)) await deps.signIn.end(before);
        context.publish({ type: 'registry', name: DEFAULT_REGISTRY });
        return { status: 200, body: { type: wanted.source.type } };
      },
    }),
    operation({
      id: 'addRegistry',
      method: 'POST',
      path: REGISTRIES_PATH,
      tag: REGISTRY_TAG,
      summary: 'Add a registry',
      description:
        'A further registry beside the others. Which one serves a name that several have is said by the priority.',
      body: z.strictObject({
        name: z.string().min(1).max(63).describe('name of the registry: lower case letters, digits and hyphens'),
        ...sourceSettings.shape,
        auth: authSettings.optional().describe('sign-in of the registry'),
        first: z.boolean().optional().describe('it has priority over the other added registries; default: behind them'),
      }),
      bodyExample: { name: 'work', ...EXAMPLE },
      answers: { 201: { description: 'The registry was added.', schema: registrySummaryShape, example: SUMMARY } },
      problems: ['forbidden', 'conflict', 'upstream_failed', 'upstream_timeout'],
      async run({ body: { name, first = false, ...given }, context }) {
        const locked = await mayChange();
        if (locked !== undefined) return locked;
        const fault = registryNameFault(name);
        if (fault !== undefined) return wrongField({ field: 'name', fault });
        const wanted = readSourceSettings(name, given);
        if ('fault' in wanted) return wrongField(wanted);
        if (wanted.source.type === 'default') {
          return wrongField({ field: 'url', fault: 'expected one of url, api_url and local_path' });
        }
        const refused = refusal(wanted, await trySource(registries, wanted, context.signal));
        if (refused !== undefined) return refused;
        if (!(await settings.add(wanted, first))) {
          return problem('conflict', `there is a registry ${name}; remove it first, or choose another name`);
        }
        context.publish({ type: 'registry', name });
        const loaded = await registries.loadOne(wanted, { signal: context.signal });
        const content = 'registry' in loaded ? loaded.registry : loaded;
        const headers = { location: `${REGISTRIES_PATH}/${name}` };
        return { status: 201, body: await summaryOf(name, wanted, content, tokens), headers };
      },
    }),
    operation({
      id: 'removeRegistry',
      method: 'DELETE',
      path: `${REGISTRIES_PATH}/{name}`,
      tag: REGISTRY_TAG,
      summary: 'Remove a registry',
      description: 'Removes an added registry and its sign-in. `default` stays: `PUT` without a source resets it.',
      params: z.strictObject({ name: registryParam }),
      answers: { 204: { description: 'The registry was removed.' } },
      problems: ['forbidden', 'not_found'],
      async run({ path: { name }, context }) {
        if (name === DEFAULT_REGISTRY || name === BUILT_IN) {
          return problem(
            'bad_request',
            `${name} cannot be removed; PUT /api/v1beta/registry/default changes its source`,
          );
        }
        const locked = await mayChange();
        if (locked !== undefined) return locked;
        const all = await registries.configured();
        const registry = all.find((each) => each.name === name);
        if (registry === undefined || !(await settings.remove(name))) return noRegistry(all.map((each) => each.name));
        if (registry.auth !== undefined) await deps.signIn.end(registry);
        context.publish({ type: 'registry', name });
        return { status: 204 };
      },
    }),
    operation({
      id: 'refreshRegistry',
      method: 'POST',
      path: `${REGISTRIES_PATH}/{name}/refresh`,
      tag: REGISTRY_TAG,
      summary: 'Refresh a registry',
      description: 'Asks the source now, although a copy of it is fresh. `default` refreshes all registries.',
      params: z.strictObject({ name: registryParam }),
      answers: {
        200: {
          description: 'The registry was loaded again. `notes` says which source did not answer.',
          schema: z.object({
            status: z.literal('refreshed'),
            server_count: z.int().describe('number of its servers'),
            notes: z.array(z.string()).describe('what is to know about this copy'),
          }),
          example: { status: 'refreshed', server_count: 42, notes: [] },
        },
      },
      problems: ['not_found', 'upstream_failed', 'registry_auth_required', 'registry_unavailable'],
      timeLimit: 'long',
      async run({ path: { name }, context: { signal, publish } }) {
        const all = await registries.configured();
        const registry = all.find((each) => each.name === name);
        if (name !== DEFAULT_REGISTRY && registry === undefined) return noRegistry(all.map((each) => each.name));
        const options = { refresh: true, signal };
        const loaded =
          name === DEFAULT_REGISTRY || registry === undefined
            ? await registries.load(options)
            : await registries.loadOne(registry, options);
        if ('problem' in loaded) return loadProblem(loaded);
        publish({ type: 'registry', name });
        const { notes } = loaded;
        return { status: 200, body: { status: 'refreshed', server_count: loaded.registry.entries.length, notes } };
      },
    }),
  ];
}

function isSameSignIn(a: ConfiguredRegistry, b: ConfiguredRegistry): boolean {
  const of = ({ source, auth }: ConfiguredRegistry): string => JSON.stringify([source, auth?.issuer, auth?.clientId]);
  return of(a) === of(b);
}

function notDefault(all: readonly ConfiguredRegistry[]): Problem {
  const others = all.map(({ name }) => name).filter((name) => name !== DEFAULT_REGISTRY);
  const hint = others.length === 0 ? '' : `; ${others.join(', ')}: remove and add them`;
  return problem('not_found', `only the registry default can be updated${hint}`);
}

function wrongField({ field, fault }: { readonly field: string; readonly fault: string }): Problem {
  return problem('bad_request', `${field}: ${fault}`, [{ in: 'body', path: field, detail: fault }]);
}

/** Source: reference workload-api §3.4. A file that is missing is a wrong request; a server that is away is not. */
function refusal({ source }: ConfiguredRegistry, tried: SourceTried): Problem | undefined {
  if (tried.kind === 'usable' || tried.kind === 'needs-sign-in') return undefined;
  const { kind, problem: detail } = tried;
  if (kind === 'missing') return wrongField({ field: 'local_path', fault: detail });
  if (kind === 'unreachable') return problem('upstream_timeout', detail);
  if (kind === 'auth') return problem('upstream_failed', `${detail}: it needs a sign-in, give auth`);
  return problem('upstream_failed', source.type === 'default' ? detail : `${detail}; nothing was saved`);
}
