import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { explainCause } from '@toolmgr/core';
import type { Connection, Credentials, TlsSettings } from '@toolmgr/plugins/kit/kubernetes';
import { UsageError } from '../../shared/usage-error.ts';
import { type CurrentContext, readCurrentContext } from './kubeconfig-files.ts';
import { type UserToken, userTokens } from './user-token.ts';

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
  const { cluster, name, namespace = 'default' } = config;
  if (cluster === undefined) {
    throw new UsageError(
      `${where}: ${name === undefined ? 'there is no current context' : `the current context '${name}' has no cluster`}`,
    );
  }
  if (cluster['proxy-url']) throw new UsageError(`${where}: proxy-url of cluster '${cluster.name}' is not supported`);
  if (!URL.canParse(cluster.server)) {
    throw new UsageError(`${where}: server of cluster '${cluster.name}': expected a URL, but got '${cluster.server}'`);
  }
  let tokens = userTokens(config.user);
  let last = await read(config, tokens, where);
  let readAtMs = performance.now();
  return {
    server: cluster.server.replace(/\/$/, ''),
    namespace,
    async credentials(refused = false) {
      if (!refused && performance.now() - readAtMs < READ_AGAIN_MS) return last;
      if (refused) {
        config = load(files, where);
        tokens = userTokens(config.user); // forgets the tokens of credential plugins
      }
      last = await read(config, tokens, where, last.tls);
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

function load(files: readonly string[], where: string): CurrentContext {
  try {
    return readCurrentContext(files);
  } catch (cause) {
    throw new UsageError(`${where} is not a kubeconfig: ${explainCause(cause)}`);
  }
}

async function read(
  context: CurrentContext,
  tokens: () => Promise<UserToken>,
  where: string,
  before?: TlsSettings,
): Promise<Credentials> {
  try {
    const { authorization, tls } = await credentialsOf(context, tokens);
    return {
      ...(authorization === undefined ? {} : { authorization }),
      ...(context.user.as === undefined ? {} : { headers: { 'Impersonate-User': context.user.as } }),
      tls: before !== undefined && JSON.stringify(before) === JSON.stringify(tls) ? before : tls,
    };
  } catch (cause) {
    throw new UsageError(`${where}: no credentials: ${explainCause(cause)}`);
  }
}

async function credentialsOf({ cluster, user }: CurrentContext, tokens: () => Promise<UserToken>) {
  const { server = '', 'insecure-skip-tls-verify': isInsecure, 'tls-server-name': servername } = cluster ?? {};
  if (server.startsWith('http:') && !isInsecure) {
    throw new Error('plain http is not allowed without insecure-skip-tls-verify');
  }
  const [asked, token, ca, cert, key] = await Promise.all([
    tokens(),
    user.token ?? pem(user.tokenFile, undefined),
    pem(cluster?.['certificate-authority'], cluster?.['certificate-authority-data']),
    pem(user['client-certificate'], user['client-certificate-data']),
    pem(user['client-key'], user['client-key-data']),
  ]);
  const tls: TlsSettings = {
    ...{ ca, cert: asked.cert ?? cert, key: asked.key ?? key, servername },
    ...(isInsecure ? { rejectUnauthorized: false } : {}),
  };
  const bearer = token?.trim() ?? asked.token;
  const basic = user.username && Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return { authorization: basic ? `Basic ${basic}` : bearer && `Bearer ${bearer}`, tls };
}

async function pem(file: string | undefined, data: string | undefined): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  return file === undefined ? undefined : readFile(file, 'utf8');
}
