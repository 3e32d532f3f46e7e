import { explainIssues } from '@toolmgr/core';
import { type PermissionProfile, permissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { roleBindings, roles, serviceAccounts, services } from '../../objects/built-in-kinds.ts';
import { contentHash } from '../../objects/content-hash.ts';
import type { Section } from '../../resolve/context.ts';
import type { BuildInput, Built } from '../proxy/proxy-controller.ts';
import { proxyObjects } from '../proxy/proxy-objects.ts';
import { resolveProxy } from '../proxy/resolve-proxy.ts';
import { type Isolation, isolationOf } from './server-isolation.ts';
import { type ServerNames, serverNamesOf } from './server-names.ts';
import {
  hasBackends,
  isStdio,
  SERVER_CONTAINER,
  type ServerSpec,
  serverObjects,
  serverPort,
} from './server-objects.ts';

type Input = BuildInput<ServerSpec>;

/** The objects of an MCPServer: the server in a StatefulSet, and its proxy. */
export async function buildServer(input: Input): Promise<Built> {
  const { key, spec, url, context, image, imagePullSecrets, isOpenShift } = input;
  const names = serverNamesOf(key.name);
  const owner = { kind: 'MCPServer', ...key } as const;
  const replicas = replicasOf(input);
  const isolation = await isolationFor(input);
  const secrets = await secretsOf(input);
  const target = targetOf(spec, names, key.namespace);
  const { resolved, hashes } = await resolveProxy({ spec, target, url, replicas: replicas.proxy }, context);
  if (resolved === undefined || isolation === undefined || context.findings.hasFailed) return { hashes };
  const server = serverObjects({
    ...{ owner, names, spec, isolation, imagePullSecrets, isOpenShift },
    checksum: contentHash(secrets),
    replicas: replicas.server,
  });
  const proxy = proxyObjects({
    ...{ owner, names, spec, resolved, image, imagePullSecrets, isOpenShift },
    pod: context.pod.result(),
    replicas: replicas.proxy,
    ...(isStdio(spec) ? { isExclusive: true, rules: rulesFor(names) } : {}),
  });
  for (const built of [server, proxy]) {
    if (!('templateProblem' in built)) continue;
    const reason = 'InvalidPodTemplateSpec';
    context.findings.fail('PodTemplateValid', reason, built.templateProblem, reason);
    return { hashes };
  }
  if (spec.podTemplateSpec !== undefined) {
    context.findings.tell('PodTemplateValid', 'True', 'ValidPodTemplateSpec', 'spec.podTemplateSpec is valid');
  }
  return {
    hashes,
    wanted: [...(Array.isArray(server) ? server : []), ...(Array.isArray(proxy) ? proxy : [])],
    unwanted: [
      ...(isStdio(spec) ? [] : [roleBindings, roles].map((type) => ({ type, name: names.account }))),
      ...(isStdio(spec) ? [{ type: services, name: names.headless }] : []),
      ...(isStdio(spec) || !hasBackends(spec) ? [{ type: services, name: names.backends }] : []),
      ...(spec.serviceAccount === undefined ? [] : [{ type: serviceAccounts, name: names.serverAccount }]),
    ],
  };
}

/** What the run configuration says of the server. */
function targetOf(spec: ServerSpec, names: ServerNames, namespace: string): Section {
  const { transport, proxyMode } = spec;
  const mode = proxyMode === 'sse' ? { proxy_mode: 'sse' } : {};
  if (isStdio(spec)) return { transport, ...mode, pod: { namespace, name: names.pod, container: SERVER_CONTAINER } };
  const service = hasBackends(spec) ? names.backends : names.headless;
  const path = transport === 'sse' ? '/sse' : '/mcp';
  return { transport, ...mode, remote_url: `http://${service}.${namespace}.svc:${serverPort(spec)}${path}` };
}

/** The proxy of a stdio server reads its pod, attaches to it, and deletes it when the server does not end. */
function rulesFor({ pod }: ServerNames) {
  const rule = (resource: string, verbs: readonly string[]) => ({
    ...{ apiGroups: [''], resources: [resource], resourceNames: [pod], verbs },
  });
  return [rule('pods', ['get', 'delete']), rule('pods/attach', ['create', 'get'])];
}

/** A stdio server is one process with one proxy. */
function replicasOf({ spec, context }: Input): {
  readonly proxy: number | undefined;
  readonly server: number | undefined;
} {
  const { replicas, backendReplicas } = spec;
  const isStopped = replicas === 0;
  if (!isStdio(spec)) return { proxy: replicas, server: isStopped ? 0 : backendReplicas };
  const more = [
    ...(replicas !== undefined && replicas > 1 ? [`spec.replicas ${replicas}`] : []),
    ...(backendReplicas !== undefined && backendReplicas > 1 ? [`spec.backendReplicas ${backendReplicas}`] : []),
  ];
  if (more.length > 0) {
    const message = `${more.join(' and ')}: a stdio server is one process, so it and its proxy run once`;
    context.findings.tell('StdioReplicaCapped', 'True', 'StdioReplicaCapped', message);
  }
  const count = isStopped ? 0 : 1;
  return { proxy: count, server: isStopped || backendReplicas === 0 ? 0 : 1 };
}

const PROFILE_CONDITION = 'PermissionProfileValid';

async function isolationFor(input: Input): Promise<Isolation | undefined> {
  const { findings } = input.context;
  const read = await profileOf(input);
  if (read === undefined) return {};
  const isolation = 'problem' in read ? read : isolationOf(read);
  if ('problem' in isolation) {
    const reason = 'problem' in read ? 'PermissionProfileInvalid' : 'NotExpressible';
    findings.fail(PROFILE_CONDITION, reason, `spec.permissionProfile: ${isolation.problem}`, reason);
    return undefined;
  }
  findings.tell(PROFILE_CONDITION, 'True', 'PermissionProfileValid', 'the pod and its NetworkPolicy have these rights');
  return isolation;
}

/** Without a profile the server may reach everything, as `run` does with `network`. */
async function profileOf({
  spec,
  context,
}: Input): Promise<PermissionProfile | { readonly problem: string } | undefined> {
  const given = spec.permissionProfile;
  if (given === undefined) return undefined;
  if (given.type === 'builtin') {
    const outbound = given.name === 'none' ? {} : { insecure_allow_all: true };
    return permissionProfile.parse({ name: given.name, network: { outbound } });
  }
  const key = { name: given.name, key: given.key ?? '' };
  const found = await context.lookups.configMap(key, 'spec.permissionProfile');
  if ('problem' in found) return found;
  const at = `${key.key} of the config map ${key.name}`;
  let value: unknown;
  try {
    value = JSON.parse(found.text);
  } catch {
    return { problem: `${at} is no JSON` };
  }
  const read = permissionProfile.safeParse(value);
  return read.success
    ? read.data
    : { problem: `${at}: ${explainIssues('', permissionProfile, read.error).join('; ')}` };
}

/** Hashes of the secrets of the server, so that their rotation makes new pods. */
async function secretsOf({ spec, context }: Input): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const [index, { name, key }] of (spec.secrets ?? []).entries()) {
    const value = await context.lookups.secret({ name, key }, `spec.secrets[${index}]`);
    if ('problem' in value)
      context.findings.fail('SecretsValidated', 'SecretNotFound', value.problem, 'SecretValidationFailed');
    else hashes[`${name}/${key}`] = value.hash;
  }
  if ((spec.secrets ?? []).length > 0 && Object.keys(hashes).length > 0) {
    const told = context.findings.result().conditions.some(({ type }) => type === 'SecretsValidated');
    if (!told) context.findings.tell('SecretsValidated', 'True', 'SecretsFound', 'every secret exists');
  }
  return hashes;
}
