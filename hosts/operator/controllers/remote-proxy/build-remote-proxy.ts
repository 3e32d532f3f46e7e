import type { ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import type { z } from 'zod';
import type { mcpRemoteProxy } from '../../kinds/mcp-remote-proxy.ts';
import { serviceAccounts } from '../../objects/built-in-kinds.ts';
import type { Section } from '../../resolve/context.ts';
import { entryUrlProblem } from '../../resolve/entry-url.ts';
import { envName } from '../../resolve/env-name.ts';
import { withoutUndefined } from '../../resolve/strategy.ts';
import { derivedName } from '../derived-name.ts';
import type { BuildInput, Built } from '../proxy/proxy-controller.ts';
import { type ProxyNames, proxyObjects } from '../proxy/proxy-objects.ts';
import type { ProxyPods } from '../proxy/proxy-pods.ts';
import { resolveProxy } from '../proxy/resolve-proxy.ts';
import type { WantedCondition } from '../write-status.ts';

type RemoteSpec = z.output<typeof mcpRemoteProxy.spec>;
type Input = BuildInput<RemoteSpec>;

/** Names for an MCPRemoteProxy. Those that would be too long, or are no DNS label, are shortened and get a hash. */
export function remoteNamesOf(name: string): ProxyNames {
  return {
    deployment: derivedName(name),
    service: derivedName(name, { prefix: 'mcp-', suffix: '-remote-proxy' }),
    config: derivedName(name, { suffix: '-runconfig' }),
    account: derivedName(name, { suffix: '-remote-proxy-runner' }),
  };
}

/** URL of the proxy inside the cluster: `status.url`. */
export function remoteProxyUrl({ namespace, name }: ObjectKey, { transport, proxyPort }: RemoteSpec): string {
  const { service } = remoteNamesOf(name);
  return `http://${service}.${namespace}.svc.cluster.local:${proxyPort}${transport === 'sse' ? '/sse' : '/mcp'}`;
}

/** The objects of an MCPRemoteProxy. */
export async function buildRemoteProxy(input: Input): Promise<Built> {
  const { key, spec, url, context, image, imagePullSecrets, isOpenShift } = input;
  const { findings, pod } = context;
  const names = remoteNamesOf(key.name);
  const problem = entryUrlProblem(spec);
  if (problem !== undefined)
    findings.fail('ConfigurationValid', 'RemoteURLInvalid', `spec.remoteUrl ${problem}`, 'RemoteURLInvalid');
  const bundle = await caFileOf(input);
  const header_forward = await headersOf(input);
  const target: Section = withoutUndefined({
    transport: spec.transport,
    remote_url: spec.remoteUrl,
    remote_addresses: spec.allowPrivateEndpoint ? 'network' : 'public',
    header_forward,
  });
  const { resolved, hashes } = await resolveProxy({ spec, target, url, replicas: spec.replicas }, context);
  if (resolved === undefined || findings.hasFailed) return { hashes };
  const parts = pod.result();
  const env = bundle === undefined ? parts.env : [...parts.env, { name: 'NODE_EXTRA_CA_CERTS', value: bundle }];
  const built = proxyObjects({
    owner: { kind: 'MCPRemoteProxy', ...key },
    ...{ names, spec, resolved, image, imagePullSecrets, isOpenShift },
    pod: { ...parts, env },
    replicas: spec.replicas,
    resources: spec.resources,
    serviceAccount: spec.serviceAccount,
    podTemplateSpec: spec.podTemplateSpec,
  });
  if ('templateProblem' in built) {
    const reason = 'InvalidPodTemplateSpec';
    findings.fail('PodTemplateValid', reason, built.templateProblem, reason);
    return { hashes };
  }
  if (spec.podTemplateSpec !== undefined) {
    findings.tell('PodTemplateValid', 'True', 'ValidPodTemplateSpec', 'spec.podTemplateSpec is valid');
  }
  const unwanted = spec.serviceAccount === undefined ? [] : [{ type: serviceAccounts, name: names.account }];
  return { hashes, wanted: built, unwanted };
}

/** Path of the CA bundle in the pod. */
async function caFileOf({ spec, context: { findings, pod } }: Input): Promise<string | undefined> {
  if (spec.caBundleRef === undefined) return undefined;
  const found = await pod.caFile('remote-ca', spec.caBundleRef.configMapRef, 'spec.caBundleRef');
  if ('problem' in found) {
    findings.fail('CABundleRefValidated', 'CABundleRefInvalid', found.problem, 'CABundleRefInvalid');
    return undefined;
  }
  findings.tell('CABundleRefValidated', 'True', 'CABundleRefValid', 'spec.caBundleRef has certificates');
  return found.path;
}

/** `header_forward` of the run configuration. Secrets are variables `TOOLMGR_SECRET_NAME`. */
async function headersOf({ spec, context: { findings, pod } }: Input): Promise<Section | undefined> {
  const { addPlaintextHeaders: plain, addHeadersFromSecret: secret = [] } = spec.headerForward ?? {};
  if (plain === undefined && secret.length === 0) return undefined;
  const names: Record<string, string> = {};
  for (const { headerName, valueSecretRef } of secret) {
    const name = envName('HEADER', headerName.toLowerCase());
    const by = `spec.headerForward.addHeadersFromSecret ${headerName}`;
    const found = await pod.fixedEnv(`TOOLMGR_SECRET_${name}`, valueSecretRef, by);
    if ('problem' in found)
      findings.fail('ConfigurationValid', 'HeaderSecretNotFound', found.problem, 'HeaderSecretNotFound');
    else names[headerName] = name;
  }
  return withoutUndefined({
    add_plaintext_headers: plain,
    add_headers_from_secret: Object.keys(names).length === 0 ? undefined : names,
  });
}

/** Whether the remote server answers: proxies are ready when it has answered. */
export function remoteConditions({ ready, running }: ProxyPods): readonly WantedCondition[] {
  const type = 'RemoteAvailable';
  if (ready > 0) return [{ type, status: 'True', reason: 'RemoteAnswers', message: 'the remote server has answered' }];
  if (running === 0) return [{ type, status: 'Unknown', reason: 'ProxyNotRunning', message: 'no proxy runs yet' }];
  return [
    { type, status: 'False', reason: 'RemoteNotAnswering', message: 'the remote server has not answered the proxy' },
  ];
}
