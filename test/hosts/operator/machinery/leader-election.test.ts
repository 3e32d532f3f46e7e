import { type Api, createApi } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  acquireLeadership,
  type ElectionTimes,
  type Leadership,
  leases,
} from '../../../../hosts/operator/machinery/leader-election.ts';
import { freezingProxy } from '../../../support/freezing-proxy.ts';
import { type KubeCluster, missingKube, startKube } from '../../../support/kube.ts';
import { apiOf, connectionTo } from '../../../support/kube-api.ts';
import { until } from '../../../support/until.ts';

const TIMES: ElectionTimes = { durationMs: 3_000, deadlineMs: 2_000, everyMs: 300 };
const missing = missingKube();

describe.skipIf(missing !== undefined)(`the leader of replicas ${missing ? `(skipped: ${missing})` : ''}`, () => {
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
  const contend = (name: string, identity: string, with_ = api, signal = new AbortController().signal) => {
    const lines: string[] = [];
    const note = (message: string) => void lines.push(message);
    const log = { info: note, warn: note, error: note };
    const lease = { namespace: 'default', name };
    const held: { leadership?: Leadership | undefined } = {};
    const done = acquireLeadership({ api: with_, lease, identity, log, times: TIMES }, signal).then((leadership) => {
      held.leadership = leadership;
      return leadership;
    });
    return { held, done, lines };
  };
  const leaseOf = (name: string) => api.get(leases, { namespace: 'default', name });

  test('is one of two, renews the Lease, and is followed at once by the other when it stops', async () => {
    const one = contend('stops', 'one');
    const leadership = await one.done;
    const two = contend('stops', 'two');
    const { renewTime } = (await leaseOf('stops'))?.spec ?? {};
    await until(async () => (await leaseOf('stops'))?.spec.renewTime !== renewTime);
    await until(() => two.lines.includes('another replica is the leader'));
    expect(two.held.leadership).toBeUndefined();
    await leadership?.release();
    await two.done;
    expect((await leaseOf('stops'))?.spec).toMatchObject({
      holderIdentity: 'two',
      leaseDurationSeconds: 3,
      leaseTransitions: 1,
    });
    await two.held.leadership?.release();
  });

  test('is one of many that begin at the same time', async () => {
    const stop = new AbortController();
    const all = Array.from({ length: 8 }, (_, at) => contend('race', `replica-${at}`, api, stop.signal));
    await Promise.race(all.map(({ done }) => done));
    await until(() => all.filter(({ lines }) => lines.includes('another replica is the leader')).length === 7);
    expect(all.filter(({ held }) => held.leadership !== undefined)).toHaveLength(1);
    stop.abort();
    const [winner] = (await Promise.all(all.map(({ done }) => done))).filter((each) => each !== undefined);
    await winner?.release();
  });

  test('has lost the Lease before another one takes it, when it cannot reach the server', async () => {
    await using proxy = await freezingProxy(Number(new URL(cluster.server).port));
    await using cutOff = createApi({ ...connectionTo(cluster), server: `https://127.0.0.1:${proxy.port}` });
    const one = contend('network', 'one', cutOff);
    const leadership = await one.done;
    let lost: string | undefined;
    void leadership?.lost.then((reason) => {
      lost = reason;
    });
    const two = contend('network', 'two');
    await until(() => two.lines.includes('another replica is the leader'));
    expect(lost).toBeUndefined();
    proxy.block();
    proxy.freeze();
    await two.done;
    expect(lost).toBe('the Lease was not renewed in time');
    await two.held.leadership?.release();
  });

  test('has lost the Lease when another one has written its name into it', async () => {
    const one = contend('stolen', 'one');
    const leadership = await one.done;
    await api.patch(leases, { namespace: 'default', name: 'stolen' }, { spec: { holderIdentity: 'thief' } });
    expect(await leadership?.lost).toBe('another replica has taken the Lease');
  });

  test('waits until the server can be reached, and ends when it is stopped meanwhile', async () => {
    const refused = createApi({ ...connectionTo(cluster), server: 'https://127.0.0.1:1' });
    const stop = new AbortController();
    const waiting = contend('away', 'one', refused, stop.signal);
    await until(() => waiting.lines.some((line) => line.startsWith('the Lease cannot be read')));
    stop.abort();
    expect(await waiting.done).toBeUndefined();
    await refused[Symbol.asyncDispose]();
  });
});
