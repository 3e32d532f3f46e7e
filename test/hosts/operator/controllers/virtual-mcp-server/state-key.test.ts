import { type Api, ApiError, type KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { createContents } from '../../../../../hosts/operator/controllers/contents.ts';
import { ensureStateKey } from '../../../../../hosts/operator/controllers/virtual-mcp-server/state-key.ts';
import { writeObjects } from '../../../../../hosts/operator/controllers/virtual-mcp-server/write-objects.ts';
import type { VirtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import type { ReconcileContext } from '../../../../../hosts/operator/machinery/controller.ts';
import { createOwnedObjects } from '../../../../../hosts/operator/objects/owned-objects.ts';
import { podInputs, resolved } from '../../../../support/resolved-server.ts';

const SERVER = {
  apiVersion: 'toolmgr.dev/v1beta1',
  kind: 'VirtualMCPServer',
  metadata: { name: 'a', namespace: 'team', uid: 'u1', generation: 1 },
  spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' }, serviceAccount: 'mine' },
} as VirtualMcpServer;
const WANTED = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a-vmcp-state', namespace: 'team' } };

/** What an operator with empty caches works with. */
function contextWith(api: Partial<Api>) {
  const cache = { get: () => undefined, list: () => [], byIndex: () => [] };
  const context = { api, caches: { of: () => cache }, now: Date.now } as unknown as ReconcileContext;
  return { context, contents: createContents(context.api, context.caches) };
}

describe('the Secret with the state key', () => {
  it('is not made without random bytes', async () => {
    const { context, contents } = contextWith({ get: async () => undefined });
    const ensured = await ensureStateKey(SERVER, WANTED, context, contents, () => {
      throw new Error('no entropy');
    });
    expect(ensured).toEqual({
      result: 'ungenerated',
      message: 'no random bytes for Secret a-vmcp-state: no entropy',
    });
  });

  it('is that of another operator which was faster', async () => {
    const stored: KubeObject[] = [];
    const { context, contents } = contextWith({
      get: async () => stored[0] as never,
      async create(_type, object) {
        stored.push({ ...object, metadata: { ...object.metadata, uid: 'u2' } });
        throw new ApiError(409, 'AlreadyExists', 'it exists');
      },
    });
    const ensured = await ensureStateKey(SERVER, WANTED, context, contents);
    expect(ensured).toMatchObject({ result: 'unchanged', object: { metadata: { uid: 'u2' } } });
    expect(await ensureStateKey(SERVER, WANTED, context, contents)).toEqual(ensured);
    expect(stored).toHaveLength(1);
  });

  it('is a condition and an event when the operator may not create it, and nothing else is written', async () => {
    const { context, contents } = contextWith({
      get: async () => undefined,
      create: () => Promise.reject(new ApiError(403, 'Forbidden', 'secrets is forbidden')),
    });
    const settings = { image: 'example.test/toolmgr:1' };
    const input = { server: SERVER, inputs: podInputs(resolved()), imagePullSecrets: [], settings, contents };
    const reason = 'HMACSecretCreationFailed';
    expect(await writeObjects(input, createOwnedObjects(), context)).toMatchObject({
      outcome: { result: 'failed', message: 'Secret a-vmcp-state was refused: secrets is forbidden' },
      conditions: [{ type: 'StateKeyValid', status: 'False', reason }],
      events: [{ type: 'Warning', reason }],
      isRefused: true,
    });
  });
});
