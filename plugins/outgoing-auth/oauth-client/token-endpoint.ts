import { readFile } from 'node:fs/promises';
import { explainCause, GatewayFault } from '@toolmgr/core';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { workloadSecretStore } from '@toolmgr/plugins/kit/workloads';
import type { OauthClientOptions } from './config.ts';
import type { TokenEndpoint } from './token-request.ts';

/**
 * The token endpoint of a login with its client.
 * @throws GatewayFault SECRET_MISSING naming `where` when the client secret cannot be read
 */
export async function tokenEndpointOf(
  options: OauthClientOptions,
  http: RemoteHttp,
  where: string,
): Promise<TokenEndpoint> {
  const { tokenUrl, clientId, authMethod, resource } = options;
  const secret = await clientSecretOf(options, where);
  return {
    url: tokenUrl,
    client: { id: clientId, secret, ...(authMethod === undefined ? {} : { method: authMethod }) },
    http,
    ...(resource === undefined ? {} : { resource }),
  };
}

async function clientSecretOf(
  { clientSecretFile: file, clientSecretName: name, stateDir, workload }: OauthClientOptions,
  where: string,
): Promise<string | undefined> {
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new GatewayFault('SECRET_MISSING', `${where}.clientSecretFile: ${file}: ${explainCause(cause)}`);
    });
    return text.trim();
  }
  if (name === undefined) return undefined;
  const secret = await workloadSecretStore(stateDir, workload).read(name);
  if (secret !== undefined) return secret;
  throw new GatewayFault('SECRET_MISSING', `${where}.clientSecretName: workload ${workload} has no secret ${name}`);
}
