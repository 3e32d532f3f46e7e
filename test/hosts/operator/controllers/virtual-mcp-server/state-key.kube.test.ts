import { describe, expect, it } from 'vitest';
import { typeOfKind } from '../../../../../hosts/operator/kinds/kind.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import { deployments, type Secret, secrets } from '../../../../../hosts/operator/objects/built-in-kinds.ts';
import { kubeSkipped, kubeSuite } from '../../../../support/kube-suite.ts';
import { resolved, serverRounds } from '../../../../support/resolved-server.ts';

const TYPE = typeOfKind(virtualMcpServer);
const LIMIT_MS = 120_000;

describe.skipIf(kubeSkipped)(`the state key${kubeSkipped}`, () => {
  const suite = kubeSuite();
  const { api } = suite;

  const start = async (spec: object = {}) => {
    const namespace = await suite.namespace();
    const key = { namespace, name: 'a' };
    await api.apply(
      TYPE,
      {
        apiVersion: TYPE.apiVersion,
        kind: TYPE.kind,
        metadata: key,
        spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' }, ...spec },
      } as VirtualMcpServer,
      { manager: 'user' },
    );
    return {
      kubectl: (...args: string[]) => suite.cluster.kubectl(['-n', namespace, ...args]),
      operator: () => serverRounds({ api, namespace }, resolved()),
      secret: (): Promise<Secret | undefined> => api.get(secrets, { namespace, name: 'a-vmcp-state' }),
      template: async () => (await api.get(deployments, key))?.spec.template,
      status: async () => (await api.get(TYPE, key))?.status,
    };
  };

  it(
    'two operators that start at once make one, which pods get also with an account of the user',
    async () => {
      const team = await start({ serviceAccount: 'mine' });
      const [one, two] = [team.operator(), team.operator()];
      await Promise.all([one.reconcile('a'), two.reconcile('a')]);
      const secret = await team.secret();
      expect(secret).toMatchObject({
        immutable: true,
        metadata: { ownerReferences: [{ kind: TYPE.kind, name: 'a' }] },
      });
      const text = Buffer.from(secret?.data?.['state-key'] ?? '', 'base64').toString();
      expect(Buffer.from(text, 'base64')).toHaveLength(32);
      await Promise.all([one.reconcile('a'), two.reconcile('a')]);
      const [writes, next] = [one.writes.length + two.writes.length, team.operator()];
      await Promise.all([one, two, next].map((each) => each.reconcile('a')));
      expect([one.writes.length + two.writes.length - writes, next.writes]).toEqual([0, []]);
      expect((await team.secret())?.metadata.uid).toBe(secret?.metadata.uid);
      const template = await team.template();
      const from = { secretKeyRef: { name: 'a-vmcp-state', key: 'state-key' } };
      expect(template?.spec.containers[0]?.env).toContainEqual({ name: 'TOOLMGR_STATE_KEY', valueFrom: from });
      const seen = JSON.stringify([one.events, two.events, await team.status(), template]);
      expect(seen).not.toContain(text);
      expect(seen).not.toContain(secret?.data?.['state-key']);
    },
    LIMIT_MS,
  );

  it(
    'it cannot be changed; after its deletion there is another one, and new pods',
    async () => {
      const team = await start();
      const operator = team.operator();
      await operator.reconcile('a');
      const [before, template] = [await team.secret(), await team.template()];
      const change = team.kubectl('patch', 'secret', 'a-vmcp-state', '-p', '{"data":{"state-key":"YQ=="}}');
      await expect(change).rejects.toThrow(/immutable/);
      await team.kubectl('delete', 'secret', 'a-vmcp-state');
      const writes = operator.writes.length;
      await operator.reconcile('a');
      expect(operator.writes.slice(writes)).toEqual(['create Secret a-vmcp-state', 'apply Deployment a']);
      expect((await team.secret())?.data).not.toEqual(before?.data);
      const annotationOf = (each: typeof template) => each?.metadata?.annotations?.['toolmgr.dev/state-key-hash'];
      expect(annotationOf(await team.template())).not.toBe(annotationOf(template));
      await operator.reconcile('a');
      expect(operator.writes).toHaveLength(writes + 2);
      const events = operator.events.filter(({ reason }) => reason === 'HMACSecretCreated');
      expect(events).toHaveLength(2);
    },
    LIMIT_MS,
  );

  it(
    'a Secret of another owner, and one without a usable key, are a condition and left alone',
    async () => {
      const team = await start();
      await team.kubectl('create', 'secret', 'generic', 'a-vmcp-state', '--from-literal=state-key=short');
      const operator = team.operator();
      expect(await operator.reconcile('a')).toEqual({ againAfterMs: 60_000 });
      const condition = (message: string) => ({
        phase: 'Failed',
        conditions: expect.arrayContaining([
          expect.objectContaining({
            ...{ type: 'StateKeyValid', status: 'False', reason: 'HMACSecretValidationFailed' },
            message: expect.stringContaining(message),
          }),
        ]),
      });
      expect(await team.status()).toMatchObject(condition('Secret a-vmcp-state exists and has no owner'));
      expect(await team.template()).toBeUndefined();

      const uid = (await team.kubectl('get', 'vmcp', 'a', '-o', 'jsonpath={.metadata.uid}')).trim();
      const owner = { apiVersion: TYPE.apiVersion, kind: TYPE.kind, name: 'a', uid, controller: true };
      const patch = JSON.stringify({ metadata: { ownerReferences: [owner] } });
      await team.kubectl('patch', 'secret', 'a-vmcp-state', '-p', patch);
      await operator.reconcile('a');
      await operator.reconcile('a');
      expect(await team.status()).toMatchObject(condition('44 characters; got 5. Delete it'));
      expect(operator.events.map(({ reason, type }) => `${type} ${reason}`)).toEqual([
        'Warning HMACSecretValidationFailed',
        'Warning HMACSecretValidationFailed',
      ]);
      expect((await team.secret())?.data).toEqual({ 'state-key': Buffer.from('short').toString('base64') });

      await team.kubectl('delete', 'secret', 'a-vmcp-state');
      await operator.reconcile('a');
      expect((await team.status())?.conditions?.map(({ type }) => type)).not.toContain('StateKeyValid');
      expect(await team.template()).toBeDefined();
    },
    LIMIT_MS,
  );
});
