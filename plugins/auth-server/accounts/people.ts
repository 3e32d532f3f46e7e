import { randomUUID } from 'node:crypto';
import { GatewayFault, type JsonObject } from '@toolmgr/core';
import type { AuthStorage } from '../storage/storage.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { Accounts, Person } from './accounts.ts';
import { KEYS } from './storage-keys.ts';

/** People by id and by identity. An identity belongs to one person for ever, also when two replicas see it at once. */
export function createPeople(
  storage: AuthStorage,
  upstreams: readonly Upstream[],
): Pick<Accounts, 'personOf' | 'person'> {
  const authorityOf = (provider: string): string => upstreams.find(({ name }) => name === provider)?.authority ?? '';
  const personWith = async (id: string): Promise<Person | undefined> => {
    const found = await storage.get(KEYS.person(id));
    return found === undefined ? undefined : personFrom(id, found.value);
  };
  return {
    async personOf(provider, identity) {
      const id = await personIdOf(storage, KEYS.identity(provider, authorityOf(provider), identity.subject));
      const before = await personWith(id);
      const after: Person = { id, name: identity.name ?? before?.name, email: identity.email ?? before?.email };
      if (before === undefined || before.name !== after.name || before.email !== after.email) {
        await storage.set(KEYS.person(id), { ...named(after) }, undefined);
      }
      return after;
    },
    person: personWith,
  };
}

async function personIdOf(storage: AuthStorage, key: string): Promise<string> {
  const known = await storage.get(key);
  if (typeof known?.value.person === 'string') return known.value.person;
  const id = randomUUID();
  if (await storage.add(key, { person: id }, undefined)) return id;
  const first = await storage.get(key);
  if (typeof first?.value.person === 'string') return first.value.person;
  throw new GatewayFault('STORE_UNAVAILABLE', 'the record of an identity is not readable');
}

function personFrom(id: string, { name, email }: JsonObject): Person {
  return {
    id,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
  };
}

/** Providers give a name only at the first sign-in sometimes, so absent members are not written. */
function named({ name, email }: Person): Record<string, string> {
  return { ...(name === undefined ? {} : { name }), ...(email === undefined ? {} : { email }) };
}
