import type { Resource, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { mcpServerPart } from '../../../../../hosts/operator/controllers/mcp-server/part.ts';
import { remoteProxyPart } from '../../../../../hosts/operator/controllers/remote-proxy/part.ts';
import { typeOfKind } from '../../../../../hosts/operator/kinds/kind.ts';
import { mcpRemoteProxy } from '../../../../../hosts/operator/kinds/mcp-remote-proxy.ts';
import { mcpServer } from '../../../../../hosts/operator/kinds/mcp-server.ts';
import { type RunningControllers, startControllers } from '../../../../support/controllers.ts';
import { type CountedApi, countedApi } from '../../../../support/counted-api.ts';
import { kubeSkipped, kubeSuite } from '../../../../support/kube-suite.ts';
import { until } from '../../../../support/until.ts';

const LONG = 180_000;
/** What is written a second time is written when the watches tell the first one, which takes some milliseconds. */
const QUIET_MS = 150;
const SETTINGS = {
  namespaces: [],
  namespace: 'x',
  identity: 'test',
  image: 'toolmgr:test',
  isOpenShift: false,
  imagePullSecrets: [],
};
const PARTS = [mcpServerPart(SETTINGS), remoteProxyPart(SETTINGS)];
const CASES = [
  { kind: mcpServer, spec: { image: 'example.com/server:1' } },
  { kind: mcpServer, spec: { image: 'example.com/server:1', transport: 'streamable-http', mcpPort: 8080 } },
  { kind: mcpRemoteProxy, spec: { remoteUrl: 'https://mcp.example.com/mcp' } },
];

describe.skipIf(kubeSkipped)(`crash points of proxies${kubeSkipped}`, () => {
  const { api, namespace } = kubeSuite();

  const start = (space: string, counted: CountedApi): Promise<RunningControllers> =>
    startControllers(
      counted.api,
      space,
      PARTS.flatMap(({ controllers }) => controllers),
      PARTS.flatMap(({ informers = [] }) => informers),
    );
  /** Runs an operator until `isOver`, and then until it is idle. */
  const operate = async (space: string, counted: CountedApi, isOver: () => boolean): Promise<void> => {
    await using running = await start(space, counted);
    // on a busy machine an operator that has begun may be quiet for a moment
    await until(isOver, LONG);
    await running.idle(QUIET_MS);
  };

  it.each(CASES)(
    'an operator killed at any write of $kind.kind $spec is continued by the next, which writes nothing twice',
    async ({ kind, spec }) => {
      const type = typeOfKind(kind) as ResourceType<Resource>;
      const created = async (): Promise<string> => {
        const space = await namespace();
        const object = {
          apiVersion: type.apiVersion,
          kind: type.kind,
          metadata: { namespace: space, name: 'tools' },
          spec,
        };
        await api.create(type, object);
        return space;
      };
      const whole = countedApi(api);
      await operate(await created(), whole, () => whole.writes.some((write) => write.endsWith(' status')));
      const undisturbed = [...whole.writes];
      expect(undisturbed.length).toBeGreaterThan(4);
      expect(undisturbed.at(-1)).toBe(`apply ${type.kind}/tools status`);

      const killedAfter = async (kill: number): Promise<void> => {
        const space = await created();
        const first = countedApi(api, kill);
        const killed = await start(space, first);
        await first.died;
        // its requests are never answered: the end waits a moment for them
        const ended = killed[Symbol.asyncDispose]();
        const second = countedApi(api);
        await operate(space, second, () => first.writes.length + second.writes.length >= undisturbed.length);
        expect([...first.writes, ...second.writes], `killed after write ${kill}`).toEqual(undisturbed);
        await ended;
        // what is left to do is the same after each kill, when the second has done it
        if (kill !== 1 && kill !== undisturbed.length) return;
        const third = countedApi(api);
        await operate(space, third, () => true);
        expect(third.writes).toEqual([]);
      };
      await Promise.all(undisturbed.map((_, at) => killedAfter(at + 1)));
    },
    LONG,
  );
});
