import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SERVER_IMAGE } from '../../support/container-engine.ts';
import { missingKubeNode, startKubeNode } from '../../support/kube-node.ts';
import { until } from '../../support/until.ts';

const missing = missingKubeNode();
const PORT = 3001;
const pod = {
  metadata: { labels: { app: 'everything' } },
  spec: {
    containers: [
      {
        name: 'server',
        image: SERVER_IMAGE,
        args: ['streamableHttp'],
        env: [{ name: 'PORT', value: String(PORT) }],
        readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
      },
    ],
    terminationGracePeriodSeconds: 1,
  },
};
const objects = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'everything' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'everything' } }, template: pod },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'everything' },
    spec: { selector: { app: 'everything' }, ports: [{ port: 80, targetPort: PORT }] },
  },
];
const manifest = objects.map((object) => JSON.stringify(object)).join('\n---\n');

describe.skipIf(missing)(`A node with real pods${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  it('runs pods behind a service, and leaves nothing', { timeout: 300_000 }, async () => {
    let group = '';
    {
      await using node = await startKubeNode();
      group = `/sys/fs/cgroup/pids/toolmgrn${node.podRange.split('.')[2]}`;
      const { kubectl } = node.cluster;
      await node.loadServer();
      await kubectl(['apply'], manifest);
      try {
        await kubectl(['rollout', 'status', 'deployment/everything', '--timeout=120s']);
      } catch (cause) {
        throw new Error(await node.explain('default'), { cause });
      }
      const address = await kubectl(['get', 'service', 'everything', '--output=jsonpath={.spec.clusterIP}']);
      const answers = async (): Promise<boolean> =>
        fetch(`http://${address}/mcp`, { signal: AbortSignal.timeout(2_000) }).then(
          ({ status }) => status > 0,
          () => false,
        );
      await until(answers, 30_000);
      // by name, from a pod of the service
      const script = "fetch('http://everything/mcp').then(({ status }) => console.log('status', status))";
      const inPod = ['exec', 'deployment/everything', '--', 'node', '-e', script];
      for (let n = 0; n < 4; n++) expect(await kubectl(inPod)).toMatch(/status 4\d\d/);
      expect(await kubectl(['logs', 'deployment/everything'])).toContain(String(PORT));
      expect(existsSync(group)).toBe(true);
    }
    const number = group.split('toolmgrn')[1];
    expect(Object.keys(networkInterfaces())).not.toContain(`toolmgrn${number}`);
    expect(existsSync(group)).toBe(false);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain('toolmgr-node-');
    expect(commandLines().filter((line) => line.includes('toolmgr-node-'))).toEqual([]);
  });

  it('ends with the test process, also when that is killed', { timeout: 60_000 }, async () => {
    const mark = `toolmgr-held-${randomBytes(4).toString('hex')}`;
    const holder = join(import.meta.dirname, '../../support/hold-node-namespace.ts');
    const child = spawn(process.execPath, [holder, mark], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const link = `toolmgrn${line.toString().trim()}`;
    await until(() => commandLines().some((command) => command.includes(`echo ${mark}`)));
    expect(Object.keys(networkInterfaces())).toContain(link);
    child.kill('SIGKILL');
    await until(() => !commandLines().some((command) => command.includes(mark)), 30_000);
    await until(() => networkInterfaces()[link] === undefined, 30_000);
    await rm(join(tmpdir(), `${mark}.log`), { force: true });
  });
});

function commandLines(): readonly string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, 'utf8')] : [];
    } catch {
      return []; // the process has ended
    }
  });
}
