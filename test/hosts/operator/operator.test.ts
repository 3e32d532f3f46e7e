import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { Api } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leases } from '../../../hosts/operator/machinery/leader-election.ts';
import { LEASE } from '../../../hosts/operator/operator.ts';
import { type KubeCluster, missingKube, startKube } from '../../support/kube.ts';
import { apiOf } from '../../support/kube-api.ts';
import { PROGRAM } from '../../support/program.ts';
import { prometheusSamples } from '../../support/prometheus-text.ts';
import { freePort } from '../../support/sign-in-gateway.ts';
import { until } from '../../support/until.ts';

const CRDS = new URL('../../../deploy/crds/', import.meta.url);
const WAIT_MS = 60_000;
const missing = missingKube();

interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly lines: readonly Record<string, unknown>[];
  readonly exit: Promise<number | null>;
  output(): string;
}

describe.skipIf(missing !== undefined)(`toolmgr operator ${missing ? `(skipped: ${missing})` : ''}`, () => {
  let cluster: KubeCluster;
  let api: Api & AsyncDisposable;
  beforeAll(async () => {
    cluster = await startKube({ controllers: false });
    api = apiOf(cluster);
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const start = (flags: readonly string[], env: Record<string, string> = {}): Running => {
    const child = spawn(
      process.execPath,
      ['--conditions=development', '--', PROGRAM, 'operator', '--kubeconfig', cluster.kubeconfig, ...flags],
      { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let text = '';
    child.stderr?.on('data', (bytes) => {
      text += bytes;
    });
    const exit = once(child, 'exit').then(([code]) => code as number | null);
    return {
      child,
      exit,
      output: () => text,
      get lines() {
        return text
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line));
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await exit;
      },
    };
  };
  const addresses = async () => {
    const [metrics, probes] = [await freePort(), await freePort()];
    return {
      flags: ['--metrics-bind-address', `127.0.0.1:${metrics}`, '--health-probe-bind-address', `127.0.0.1:${probes}`],
      metrics: `http://127.0.0.1:${metrics}/metrics`,
      probes: `http://127.0.0.1:${probes}`,
    };
  };
  /** Waits; fails at once, with the output, when the operator ends. */
  const untilItDoes = async (operator: Running, condition: () => boolean | Promise<boolean>): Promise<void> => {
    await until(async () => {
      if (operator.child.exitCode !== null) throw new Error(`the operator has ended: ${operator.output()}`);
      return condition();
    }, WAIT_MS);
  };
  const read = async (url: string): Promise<{ status: number; text: string }> => {
    try {
      const answer = await fetch(url);
      return { status: answer.status, text: await answer.text() };
    } catch {
      return { status: 0, text: '' };
    }
  };

  test('names the kinds whose definitions are missing, and becomes ready when they are installed', async () => {
    const at = await addresses();
    await using operator = start(at.flags, { WATCH_NAMESPACE: 'default' });
    await untilItDoes(operator, async () =>
      (await read(`${at.probes}/readyz`)).text.includes('cannot list VirtualMCPServer'),
    );
    const { status, text } = await read(`${at.probes}/readyz`);
    expect(status).toBe(503);
    expect(text).toContain('cannot list MCPGroup: the server does not serve this type; is its CRD installed?');
    expect((await read(`${at.probes}/healthz`)).status).toBe(200);
    expect(operator.output()).toContain('is its CRD installed?');
    const crds = readdirSync(CRDS).map((file) => readFileSync(new URL(file, CRDS), 'utf8'));
    await cluster.kubectl(['apply', '--server-side'], crds.join('\n---\n'));
    await untilItDoes(operator, async () => (await read(`${at.probes}/readyz`)).status === 200);
    const samples = prometheusSamples((await read(at.metrics)).text);
    const named = (name: string) => samples.find((sample) => sample.name === name);
    expect(named('process_resident_memory_bytes')?.value).toBeGreaterThan(0);
    expect(named('toolmgr_operator_leader')?.value).toBe(1);
    expect(named('toolmgr_operator_api_requests_total')?.value).toBeGreaterThan(0);
    operator.child.kill('SIGTERM');
    expect(await operator.exit).toBe(0);
    expect(operator.output()).not.toContain(cluster.token);
  }, 180_000);

  test('is one of two that reconciles; the other takes over when it stops, and ends when it loses the Lease', async () => {
    const [one, two] = [await addresses(), await addresses()];
    const env = { WATCH_NAMESPACE: 'default', POD_NAMESPACE: 'default' };
    const holder = async () => (await api.get(leases, { namespace: 'default', name: LEASE }))?.spec.holderIdentity;
    await using first = start(['--leader-elect', ...one.flags], { ...env, POD_NAME: 'first' });
    await untilItDoes(first, async () => (await holder()) === 'first');
    await using second = start(['--leader-elect', ...two.flags], { ...env, POD_NAME: 'second' });
    await untilItDoes(second, () => second.output().includes('another replica is the leader'));
    expect((await read(`${two.probes}/readyz`)).status).toBe(200);
    const leader = async (url: string) =>
      prometheusSamples((await read(url)).text).find(({ name }) => name === 'toolmgr_operator_leader')?.value;
    expect([await leader(one.metrics), await leader(two.metrics)]).toEqual([1, 0]);
    first.child.kill('SIGTERM');
    expect(await first.exit).toBe(0);
    await untilItDoes(second, async () => (await holder()) === 'second');
    await api.patch(leases, { namespace: 'default', name: LEASE }, { spec: { holderIdentity: 'third' } });
    expect(await second.exit).toBe(1);
    expect(second.output()).toContain(
      'this replica may not reconcile any more and ends: another replica has taken the Lease',
    );
  }, 180_000);

  test.each([
    [['--metrics-bind-address', '8080'], {}, '--metrics-bind-address: expected an address such as :8080'],
    [[], { WATCH_NAMESPACE: 'Not_A_Name' }, "WATCH_NAMESPACE: 'Not_A_Name' is not a name of a namespace"],
  ])('refuses %j %j', async (flags, env, message) => {
    await using operator = start(flags, env as Record<string, string>);
    expect(await operator.exit).toBe(1);
    expect(operator.output()).toContain(message);
  });
});
