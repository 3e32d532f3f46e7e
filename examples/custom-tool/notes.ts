import {
  type Call,
  type CallResult,
  definePlugin,
  encode,
  resultFromValue,
  STAGE,
  type Store,
  toolFailure,
} from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'tools/notes';
const DAY_MS = 86_400_000;

const config = z.strictObject({
  store: z.string().default('memory').describe('name in the slot stores'),
  path: z.string().startsWith('/').default('/notes').describe('path of the page'),
});

/** Adds the tool `note`, which keeps one note per caller for a day, and a page that counts the calls. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'a tool that keeps a note for its caller',
  config,
  apply({ hooks, slots }, { store: name, path }) {
    let store: Store;
    let count = 0;
    // another plugin fills the slot, perhaps after this one: it is looked up when all of them are applied
    hooks.starting.tap(ADDRESS, () => {
      store = slots.stores.get(name);
    });
    const tool = toolRunning((call) => {
      count += 1;
      return keep(store, call);
    });
    // late: the names of the backends' tools are final
    hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.late }, (draft) => ({
      ...draft,
      tools: [...draft.tools, tool],
    }));
    hooks.mount.tap(ADDRESS, (routes) => {
      routes.add('GET', path, (_inbound, _body, responder) => {
        responder.send(200, { 'content-type': 'text/plain' }, `${count} calls\n`);
      });
    });
  },
});

/** The list item of a tool is bytes of JSON, which clients get unchanged. `run` answers its calls. */
function toolRunning(run: (call: Call) => Promise<CallResult>) {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const definition = encode({ name: 'note', description: 'Keeps a note and returns the one before', inputSchema });
  return {
    kind: 'tool',
    key: 'note',
    original: 'note',
    backend: ADDRESS,
    definition,
    shapedBy: [ADDRESS],
    run,
  } as const;
}

/** Arguments are not checked against the schema before: a call has what the client sent. */
async function keep(store: Store, { arguments: given, caller }: Call): Promise<CallResult> {
  const { text } = given;
  if (typeof text !== 'string' || text.length > 1_000) return toolFailure('text: expected at most 1,000 characters');
  const key = `${ADDRESS}:${caller.key}`;
  const before = await store.get(key);
  await store.set(key, text, DAY_MS);
  return resultFromValue({ content: [{ type: 'text', text: before ?? 'there was no note' }] });
}
