import { resolve } from 'node:path';
import type { JsonObject } from '@toolmgr/core';
import type { ProblemCode } from '@toolmgr/plugins/kit/operations';
import {
  type ConfiguredRegistry,
  DEFAULT_REGISTRY,
  type RegistrySummary,
  type SourceSettings,
  sourceFromText,
} from '@toolmgr/plugins/registry';
import { OperationRefused } from '../../manager/commands/run-operation.ts';
import { userOperations } from '../../manager/commands/user-operations.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { createRegistrySignIn } from '../../workloads/registry/registry-sign-in.ts';
import { userRegistry } from '../../workloads/registry/user-registry.ts';

const registrySignIn = createRegistrySignIn();

/** `toolmgr registry sources`. */
export async function listSources({ format }: { readonly format: 'text' | 'json' }): Promise<void> {
  const listed = await (await userOperations('registry'))('listRegistries');
  // a plugin in the place of the registry may have no further sources
  const { registries, sources = registries } = listed as Readonly<Record<'registries' | 'sources', RegistrySummary[]>>;
  const rows = sources.map(({ priority = 1, name, type, source, auth_status, server_count, problem }) => ({
    ...{ priority, name, type, source: type === 'default' ? 'built in' : source, auth_status },
    servers: problem === undefined ? server_count : undefined,
    problem,
  }));
  if (format === 'json') return stdout.json(rows);
  const header = ['PRIORITY', 'NAME', 'TYPE', 'SERVERS', 'SIGN-IN', 'SOURCE'];
  const lines = rows.map(({ priority, name, type, servers, auth_status, source }) => [
    ...[String(priority), name, type, servers === undefined ? 'not available' : String(servers)],
    ...[auth_status, source],
  ]);
  for (const line of columns([header, ...lines])) stdout.line(line);
  for (const { problem } of rows) if (problem !== undefined) stderr.line(`${stderr.yellow('warning')} ${problem}`);
}

interface AddFlags {
  readonly first?: boolean;
  readonly allowPrivateIp?: boolean;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly audience?: string;
  readonly scope?: string[];
  readonly callbackPort?: string;
}

/** `toolmgr registry add`. @throws UsageError when the registry cannot be used; nothing is saved then */
export async function addSource(name: string, source: string, flags: AddFlags): Promise<void> {
  const call = await userOperations('registry');
  const wish = { name, ...sourceFrom(source, flags), ...authFrom(flags), first: flags.first === true };
  const again = `there is a registry ${name}: ${ownCommand(`registry remove ${name}`)}, or choose another name`;
  const added = (await explained(call('addRegistry', wish as JsonObject), { conflict: again })) as AddedRegistry;
  if (added.problem !== undefined && added.auth_status === 'configured') {
    return stdout.line(`${name} is used after the sign-in: ${ownCommand(`registry login ${name}`)}`);
  }
  const { notes } = (await call('listServersOfRegistry', { name, limit: '1' })) as Pick<AddedRegistry, 'notes'>;
  for (const note of notes ?? []) stderr.line(`${stderr.yellow('warning')} ${note}`);
  stdout.line(`${name} with ${added.server_count} servers is used`);
}

interface AddedRegistry {
  readonly server_count: number;
  readonly auth_status: string;
  readonly problem?: string;
  readonly notes?: readonly string[];
}

/** `toolmgr registry remove`. @throws UsageError when there is no such registry */
export async function removeSource(name: string): Promise<void> {
  const call = await userOperations('registry');
  const hint = name === DEFAULT_REGISTRY ? `: ${ownCommand('config unset registry')}` : '';
  const missing = `there is no added registry ${name}${hint}`;
  await explained(call('removeRegistry', { name }), { not_found: missing, bad_request: missing });
  stdout.line(`${name} is no longer used`);
}

const SOURCE_MEMBER = /^(?:local_path|url|api_url): /;

/** Waits for an operation. A refusal with one of these codes has another sentence, which names commands. */
async function explained(running: Promise<unknown>, sentences: Partial<Record<ProblemCode, string>>): Promise<unknown> {
  return running.catch((cause: unknown) => {
    const code = cause instanceof OperationRefused ? cause.code : undefined;
    const sentence = code === undefined ? undefined : sentences[code];
    if (sentence !== undefined) throw new UsageError(sentence);
    // a person gave a source, and not a member of a body
    throw cause instanceof OperationRefused ? new UsageError(cause.message.replace(SOURCE_MEMBER, '')) : cause;
  });
}

/** `toolmgr registry refresh`. @throws UsageError when no registry can be loaded */
export async function refreshSources(): Promise<void> {
  const { title } = await userRegistry();
  const call = await userOperations('registry');
  const { notes, server_count: servers } = (await call('refreshRegistry', { name: 'default' })) as {
    readonly notes: readonly string[];
    readonly server_count: number;
  };
  for (const note of notes) stderr.line(`${stderr.yellow('warning')} ${note}`);
  stdout.line(`${title}: ${servers} servers`);
}

/** `toolmgr registry login`. @throws UsageError with the reason when the sign-in fails */
export async function logInToSource(
  name: string | undefined,
  { skipBrowser = false }: { readonly skipBrowser?: boolean },
): Promise<void> {
  const registry = await withSignIn(name);
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  const started = await registrySignIn.start(registry, { opensBrowser: !skipBrowser, signal: ending.signal });
  if ('problem' in started) throw new UsageError(started.problem);
  stderr.line(`${registry.name}: sign in in a browser:`);
  stderr.line(`  ${started.url}`);
  const outcome = await started.done;
  if (outcome.kind === 'failed') throw new UsageError(outcome.reason);
  stdout.line(`${registry.name}: you are signed in`);
}

/** `toolmgr registry logout`. */
export async function logOutOfSource(name: string | undefined): Promise<void> {
  const registry = await withSignIn(name);
  await (await userOperations('registry'))('logOutOfRegistry', { name: registry.name });
  stdout.line(`${registry.name}: no token is kept`);
}

async function withSignIn(name: string | undefined): Promise<ConfiguredRegistry> {
  const { sources } = await userRegistry();
  const withAuth = sources.filter(({ auth }) => auth !== undefined);
  const names = withAuth.map((each) => each.name).join(', ');
  if (name === undefined && withAuth.length > 1) throw new UsageError(`several registries have a sign-in: ${names}`);
  const found = name === undefined ? withAuth[0] : withAuth.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new UsageError(
    withAuth.length === 0
      ? 'no registry has a sign-in: toolmgr registry add NAME URL --issuer URL --client-id ID'
      : `${name} has no sign-in; those that have one: ${names}`,
  );
}

function sourceFrom(text: string, { allowPrivateIp = false }: AddFlags): SourceSettings {
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(text);
  const source = sourceFromText(isUrl || text === 'official' ? text : resolve(text), {
    allowPrivateAddresses: allowPrivateIp,
  });
  if ('reason' in source) throw new UsageError(source.reason);
  const allow = allowPrivateIp ? { allow_private_ip: true } : {};
  if (source.type === 'file') return { local_path: source.path, ...allow };
  if (source.type === 'url') return { url: source.url, ...allow };
  return source.type === 'api' ? { api_url: source.url, ...allow } : allow;
}

function authFrom(flags: AddFlags): Pick<SourceSettings, 'auth'> {
  const { issuer, clientId, audience, scope, callbackPort } = flags;
  if (issuer === undefined && clientId === undefined) {
    if (audience !== undefined || scope !== undefined || callbackPort !== undefined) {
      throw new UsageError('--audience, --scope and --callback-port need --issuer and --client-id');
    }
    return {};
  }
  if (issuer === undefined || clientId === undefined) throw new UsageError('--issuer and --client-id need each other');
  const port = callbackPort === undefined ? undefined : Number(callbackPort);
  if (port !== undefined && !(Number.isInteger(port) && port >= 1024 && port <= 65_535)) {
    throw new UsageError('--callback-port: expected a port from 1024 to 65535');
  }
  return {
    auth: {
      ...{ issuer, client_id: clientId },
      ...(audience === undefined ? {} : { audience }),
      ...(scope === undefined ? {} : { scopes: scope }),
      ...(port === undefined ? {} : { callback_port: port }),
    },
  };
}
