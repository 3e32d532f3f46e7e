import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { explainCause } from '@toolmgr/core';
import type { Connection, Credentials, TlsSettings } from '@toolmgr/plugins/kit/kubernetes';
import { UsageError } from '../../shared/usage-error.ts';

/** Files and the output of credential plugins are read again after this time; plugins keep their own tokens until they expire. */
const READ_AGAIN_MS = 10_000;

/**
 * The connection of a kubeconfig: the given file, else those in `KUBECONFIG`, else `~/.kube/config`. Client certificates, tokens,
 * OIDC and credential plugins work as in kubectl.
 * @throws UsageError that names the file and what is wrong with it
 */
export async function kubeconfigConnection(
  file?: string,
  env: Readonly<Partial<Record<string, string>>> = process.env,
): Promise<Connection> {
  const files = filesOf(file, env);
  const where = files.join(delimiter);
  let config = load(files, where);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    const context = config.getCurrentContext();
    throw new UsageError(
      `${where}: ${context ? `the current context '${context}' has no cluster` : 'there is no current context'}`,
    );
  }
  if (cluster.proxyUrl) throw new UsageError(`${where}: proxy-url of cluster '${cluster.name}' is not supported`);
  if (!URL.canParse(cluster.server)) {
    throw new UsageError(`${where}: server of cluster '${cluster.name}': expected a URL, but got '${cluster.server}'`);
  }
  let last = await read(config, where);
  let readAtMs = performance.now();
  return {
    server: cluster.server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    async credentials(refused = false) {
      if (!refused && performance.now() - readAtMs < READ_AGAIN_MS) return last;
      if (refused) config = load(files, where); // forgets the tokens of credential plugins
      last = await read(config, where, last.tls);
      readAtMs = performance.now();
      return last;
    },
  };
}

function filesOf(file: string | undefined, env: Readonly<Partial<Record<string, string>>>): readonly string[] {
  const named = file === undefined ? (env.KUBECONFIG ?? '').split(delimiter).filter((each) => each !== '') : [file];
  const files = named.length > 0 ? named : [join(env.HOME ?? homedir(), '.kube', 'config')];
  const missing = files.find((each) => !existsSync(each));
  if (missing === undefined) return files;
  if (named.length > 0) throw new UsageError(`${missing} does not exist`);
  throw new UsageError(
    `no cluster: this is not a pod, KUBECONFIG is not set, and ${missing} does not exist; give --kubeconfig FILE`,
  );
}

function load(files: readonly string[], where: string): KubeConfig {
  try {
    const [first, ...others] = files.map((file) => {
      const config = new KubeConfig();
      config.loadFromFile(file);
      return config;
    });
    if (first === undefined) throw new Error('no file');
    for (const other of others) first.mergeConfig(other, true);
    return first;
  } catch (cause) {
    throw new UsageError(`${where} is not a kubeconfig: ${explainCause(cause)}`);
  }
}

async function read(config: KubeConfig, where: string, before?: TlsSettings): Promise<Credentials> {
  const options: RequestOptions & { headers?: Record<string, string> } = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new UsageError(`${where}: no credentials: ${explainCause(cause)}`);
  }
  const { Authorization: token, ...headers } = options.headers ?? {};
  const authorization = options.auth ? `Basic ${Buffer.from(options.auth).toString('base64')}` : token;
  const tls: TlsSettings = {
    ...pem('ca', options.ca),
    ...pem('cert', options.cert),
    ...pem('key', options.key),
    ...(options.servername === undefined ? {} : { servername: options.servername }),
    ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
  };
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    tls: before !== undefined && JSON.stringify(before) === JSON.stringify(tls) ? before : tls,
  };
}

function pem<K extends 'ca' | 'cert' | 'key'>(name: K, value: unknown): { readonly [key in K]?: string } {
  return value === undefined || value === null ? {} : ({ [name]: String(value) } as { [key in K]: string });
}
