import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KubeCluster, missingKube, startKube } from '../../../support/kube.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';

const missing = missingKube();
const because = missing === undefined ? '' : ` (${missing})`;

describe.skipIf(missing !== undefined)(`service accounts of a real API server${because}`, () => {
  let cluster: KubeCluster;
  beforeAll(async () => {
    cluster = await startKube();
  });
  afterAll(async () => cluster[Symbol.asyncDispose]());

  it('are callers with tokens of the audience', async () => {
    const token = async (...args: readonly string[]): Promise<string> =>
      (await cluster.kubectl(['create', 'token', 'default', ...args])).trim();
    const own = join(cluster.folder, 'own-token');
    await writeFile(own, await token(), { mode: 0o600 });
    await using gateway = await oidcGateway(
      { issuer: 'https://kubernetes.default.svc' },
      {
        jwksUrl: `${cluster.server}/openid/v1/jwks`,
        jwksAuthTokenFile: own,
        caBundlePath: cluster.caFile,
      },
    );
    expect(await gateway.status(await token('--audience', AUDIENCE))).toBe(200);
    expect(gateway.calls.at(-1)?.caller.subject).toBe('system:serviceaccount:default:default');
    expect(await gateway.status(await token())).toBe(401);
  });
});
