import { inject } from 'vitest';

/** What a file needs to know of a server that the files of a run share. @throws Error with the reason when it did not start */
export async function sharedServer<Address>(name: 'kube' | 'registry'): Promise<Address> {
  const answer = await fetch(`${inject('sharedServers')}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text) as Address;
}
