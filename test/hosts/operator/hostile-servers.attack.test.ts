import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Resource } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { typeNamed } from '../../../hosts/operator/controllers/references.ts';
import type { VirtualMcpServer } from '../../../hosts/operator/kinds/virtual-mcp-server.ts';
import { fileObjects } from '../../../hosts/operator/manifests/file-objects.ts';
import { deployments } from '../../../hosts/operator/objects/built-in-kinds.ts';
import { resolveServer } from '../../../hosts/operator/resolve/resolve-server.ts';
import { conditionsIn } from '../../support/controllers.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { allCrds } from '../../support/crds.ts';
import { hostileServers } from '../../support/hostile-servers.ts';
import { type KubeCluster, missingKube, startKube } from '../../support/kube.ts';
import { apiOf } from '../../support/kube-api.ts';
import { own } from '../../support/own-objects.ts';
import { PROGRAM } from '../../support/program.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const WAIT_MS = 60_000;
/** Of CPU. What a quiet machine does in 50 ms, on a busy one. */
const IN_TIME_MS = 3_000;
const missing = missingKube();
const folder = temporaryFolderOfFile('hostile');
const { specs, ranFile } = hostileServers(folder);

describe('a VirtualMCPServer that was made to end its reader', () => {
  it.each(Object.entries(specs))('runs nothing and is read in time when it %s', async (_what, spec) => {
    const server = own('VirtualMCPServer', 'team', 'tools', spec) as VirtualMcpServer;
    const group = own('MCPGroup', 'team', 'group');
    const usedMs = cpuClock();
    const { conditions } = await resolveServer(server, fileObjects([group], { namespace: 'team', isComplete: true }));
    expect(usedMs()).toBeLessThan(IN_TIME_MS);
    expect(existsSync(ranFile)).toBe(false);
    expect(JSON.stringify(conditions)).not.toContain('root:');
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });
});

describe.skipIf(missing !== undefined)(`the operator of a cluster${missing ? `, skipped: ${missing}` : ''}`, () => {
  let cluster: KubeCluster;
  let api: ReturnType<typeof apiOf>;
  let operator: ChildProcess | undefined;
  let output = '';
  beforeAll(async () => {
    // the definitions of an older version, which accept every address
    cluster = await startKube({ crds: withoutRules(allCrds()), controllers: false });
    api = apiOf(cluster);
  }, 180_000);
  afterAll(async () => {
    operator?.kill('SIGKILL');
    await api?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const made = (name: string, namespace: string) =>
    api.get(typeNamed('VirtualMCPServer'), { namespace, name }) as Promise<Resource | undefined>;

  proves(
    'ask.operator.hostile-objects',
    'reconciles a good server beside 20 that were made to end it, runs none of their code, and stays the same process',
    async () => {
      for (const name of ['evil', 'good']) {
        const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
        await cluster.request('POST', '/api/v1/namespaces', body);
        await api.create(typeNamed('MCPGroup'), own('MCPGroup', name, 'group'));
      }
      const path = '/apis/toolmgr.dev/v1beta1/namespaces/evil/virtualmcpservers';
      const stored: string[] = [];
      for (const [at, [what, spec]] of Object.entries(specs).entries()) {
        const { status } = await cluster.request('POST', path, own('VirtualMCPServer', 'evil', `evil${at}`, spec));
        expect([201, 400, 413, 422, 500], what).toContain(status);
        if (status === 201) stored.push(`evil${at}`);
      }
      expect(stored.length).toBeGreaterThanOrEqual(20);
      const args = ['operator', '--kubeconfig', cluster.kubeconfig, '--metrics-bind-address', '0'];
      const child = spawn(
        process.execPath,
        ['--conditions=development', '--', PROGRAM, ...args, '--health-probe-bind-address', '0'],
        { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      operator = child;
      child.stderr.on('data', (bytes) => {
        output += bytes;
      });
      const seen = async (name: string, namespace: string): Promise<boolean> => {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the operator has ended: ${output}`);
        return Object.keys(conditionsIn(await made(name, namespace))).length > 0;
      };
      for (const name of stored) await until(() => seen(name, 'evil'), WAIT_MS);
      const good = { groupRef: { name: 'group' }, incomingAuth: { type: 'anonymous' } };
      await api.create(typeNamed('VirtualMCPServer'), own('VirtualMCPServer', 'good', 'tools', good));
      await until(() => seen('tools', 'good'), WAIT_MS);
      expect(conditionsIn(await made('tools', 'good')).Valid).toBe('True/ValidationSucceeded');
      expect(await api.get(deployments, { namespace: 'good', name: 'tools' })).toBeDefined();
      expect(existsSync(ranFile)).toBe(false);
      expect(output).not.toContain('root:');
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
    180_000,
  );
});

/** CRDs without rules of their own. */
function withoutRules(crds: string): string {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).filter(([key]) => key !== 'x-kubernetes-validations');
    return Object.fromEntries(kept.map(([key, member]) => [key, strip(member)]));
  };
  return parseAllDocuments(crds)
    .map((document) => JSON.stringify(strip(document.toJS())))
    .join('\n---\n');
}
