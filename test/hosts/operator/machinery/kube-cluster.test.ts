import { describe, expect, test } from 'vitest';
import { missingKube, startKube } from '../../../support/kube.ts';

const missing = missingKube();

describe.skipIf(missing !== undefined)(`a real API server ${missing ? `(skipped: ${missing})` : ''}`, () => {
  test('keeps its objects when it is killed and started again, and answers kubectl', async () => {
    await using cluster = await startKube();
    await cluster.kubectl(['create', 'configmap', 'kept', '--from-literal=a=b']);
    await cluster.killApiServer();
    await expect(cluster.request('GET', '/readyz')).rejects.toThrow();
    await cluster.startApiServer();
    await cluster.compact();
    expect(await cluster.kubectl(['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'])).toBe('b');
    expect(await cluster.kubectl(['version', '-o', 'json'])).toContain('v1.36.3');
  }, 180_000);
});
