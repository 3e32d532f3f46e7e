import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/** Keeps the data of an identity provider in a map, so that a rotation can replace the provider. */
export function mapAdapter(store: Map<string, unknown>): AdapterFactory {
  return (model) => adapterOf(store as Map<string, AdapterPayload>, model);
}

function adapterOf(store: Map<string, AdapterPayload>, model: string): Adapter {
  const key = (id: string): string => `${model}:${id}`;
  const findBy = async (matches: (payload: AdapterPayload) => boolean): Promise<AdapterPayload | undefined> =>
    [...store].find(([name, payload]) => name.startsWith(`${model}:`) && matches(payload))?.[1];
  return {
    upsert: async (id, payload) => void store.set(key(id), payload),
    find: async (id) => store.get(key(id)),
    findByUid: (uid) => findBy((payload) => payload.uid === uid),
    findByUserCode: (code) => findBy((payload) => payload.userCode === code),
    consume: async (id) => {
      const payload = store.get(key(id));
      if (payload !== undefined) store.set(key(id), { ...payload, consumed: Math.floor(Date.now() / 1000) });
    },
    destroy: async (id) => void store.delete(key(id)),
    revokeByGrantId: async (grantId) => {
      for (const [name, payload] of store) if (payload.grantId === grantId) store.delete(name);
    },
  };
}
