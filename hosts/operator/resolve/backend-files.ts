import { isObject } from '@toolmgr/core';
import type { BackendsDocument, DocumentBackend } from '@toolmgr/plugins/kit/kubernetes';
import { contentHash } from '../objects/content-hash.ts';
import type { ResolvedBackend } from './backends.ts';
import type { Context, Section } from './context.ts';
import { sorted } from './sorted.ts';
import { inFile, withoutUndefined } from './strategy.ts';

/** Folder of the CA certificates of an entry below `/etc/toolmgr`. */
function caFolder(name: string): string {
  return `ca-bundles/${name}`;
}

/** `backends` and `outgoingAuth` of a vmcp file that lists the backends. `written`: `spec.config.backends`. */
export function listedIn(backends: readonly ResolvedBackend[], written: readonly unknown[]) {
  return {
    outgoingAuth: {
      source: 'inline',
      default: { type: 'unauthenticated' },
      backends: Object.fromEntries(
        backends.flatMap(({ candidate: { name }, strategy }) =>
          strategy === undefined ? [] : [[name, inFile(strategy)]],
        ),
      ),
    },
    backends: backends.map((backend) => listedBackend(backend, writtenAs(backend.candidate.name, written))),
  };
}

function writtenAs(name: string, written: readonly unknown[]): Section {
  return written.filter(isObject).find((each) => each.name === name) ?? {};
}

/** What the group says wins; other keys, such as `sessions`, stay as they are written. */
function listedBackend({ candidate, caText, headers, headersEnv }: ResolvedBackend, written: Section): Section {
  const { name, url, transport, isEntry, addresses, metadata } = candidate;
  const { caBundlePath: _, type: __, command: ___, addresses: _addresses, ...kept } = written;
  return withoutUndefined({
    ...kept,
    name,
    url,
    transport,
    type: isEntry ? 'entry' : undefined,
    addresses,
    caBundlePath: caText === undefined ? undefined : `/etc/toolmgr/${caFolder(name)}/ca.crt`,
    metadata: { ...(isObject(written.metadata) ? written.metadata : {}), ...metadata },
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    headersEnv: Object.keys(headersEnv).length === 0 ? undefined : headersEnv,
  });
}

/** Adds the variables and the files of listed backends to the pod. */
export async function mountListed(backends: readonly ResolvedBackend[], { pod }: Context): Promise<void> {
  for (const { candidate, secrets } of backends) {
    for (const [name, key] of Object.entries(secrets)) await pod.fixedEnv(name, key, candidate.name);
    const { caBundle } = candidate;
    if (caBundle !== undefined) await pod.caFile(caFolder(candidate.name), caBundle, 'caBundleRef');
  }
}

/** The document that pods follow, with the names of its secrets. */
export async function documentOf(
  backends: readonly ResolvedBackend[],
  { spec, lookups }: Context,
): Promise<{ readonly document: BackendsDocument; readonly secretNames: readonly string[] }> {
  const secrets = Object.assign({}, ...backends.map((backend) => backend.secrets)) as ResolvedBackend['secrets'];
  const content = {
    backends: backends.map((backend) => documentBackend(backend, spec.groupRef.name)),
    secrets,
  };
  const values: Record<string, string> = {};
  for (const [name, key] of Object.entries(secrets)) {
    const value = await lookups.secret(key, name);
    values[name] = 'hash' in value ? value.hash : '';
  }
  return {
    document: sorted({ checksum: contentHash({ content, values }), ...content }) as BackendsDocument,
    secretNames: [...new Set(Object.values(secrets).map(({ name }) => name))].sort(),
  };
}

function documentBackend(
  { candidate, strategy, authConfigRef, headers, headersEnv, caText }: ResolvedBackend,
  group: string,
): DocumentBackend {
  const { name, url = '', transport, isEntry, addresses, metadata } = candidate;
  return {
    name,
    url,
    transport,
    metadata: { ...metadata, group },
    ...(isEntry ? { type: 'entry' as const } : {}),
    ...(addresses === undefined ? {} : { addresses }),
    ...(caText === undefined ? {} : { caBundle: caText }),
    ...(strategy === undefined ? {} : { auth: withoutUndefined({ type: strategy.type, options: strategy.options }) }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(headersEnv).length === 0 ? {} : { secretHeaders: headersEnv }),
    ...(authConfigRef === undefined ? {} : { authConfigRef }),
  };
}
