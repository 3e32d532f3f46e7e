import { definePlugin, fieldPath, type JsonObject, type Plugin } from '@toolmgr/core';
import {
  type FakeServer,
  fakeServer,
  type TestBackends,
  type TestClientOptions,
  type TestGateway,
  testGateway,
  text,
} from '@toolmgr/core/testing';
import { type WorkflowAdvanced, workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';
import { z } from 'zod';
import { compositeConfig } from '../../plugins/composite/engine/config.ts';
import engine from '../../plugins/composite/engine/index.ts';

/** A gateway with composite tools and one fake server, `far`, with a record of workflow events. */
export interface Composing extends TestGateway {
  readonly far: FakeServer;
  readonly events: readonly WorkflowAdvanced[];
  /** `change` and step of all events so far, e.g. `step_failed a`. */
  readonly changes: () => readonly string[];
  /** Calls a tool as a client of an era and reads the result. */
  ask(name: string, given?: JsonObject, options?: TestClientOptions): Promise<Answered>;
}

/** A composite's answer. */
export interface Answered {
  readonly output: JsonObject | undefined;
  readonly isError: boolean;
  /** The first text. */
  readonly text: string;
}

/** Definitions in the form of a file. */
export type Definitions = readonly JsonObject[];

/** Starts a gateway with these composite tools. */
export async function composing(
  definitions: Definitions,
  more: {
    readonly backends?: TestBackends;
    readonly plugins?: readonly Plugin[];
    readonly with?: JsonObject;
    readonly limits?: JsonObject;
    far?: FakeServer;
    now?: () => number;
  } = {},
): Promise<Composing> {
  const far = more.far ?? farServer();
  const events: WorkflowAdvanced[] = [];
  const listener = definePlugin({
    address: 'test/listener',
    config: z.strictObject({}),
    apply(core) {
      core.hook(workflowAdvanced).tap('test/listener', (advanced) => void events.push(advanced));
    },
  });
  const plugins = [engine, listener, ...(more.plugins ?? [])];
  const kit = await testGateway({
    plugins,
    plan: {
      ...(more.limits === undefined ? {} : { limits: more.limits }),
      plugins: plugins.map(({ address }) =>
        address === engine.address
          ? { use: address, with: { compositeTools: definitions, ...more.with } }
          : { use: address },
      ),
    },
    backends: { far, ...more.backends },
    ...(more.now === undefined ? {} : { now: more.now }),
  });
  return {
    ...kit,
    far,
    events,
    changes: () => events.map(({ change, step }) => (step === undefined ? change : `${change} ${step.id}`)),
    async ask(name, given = {}, options = {}) {
      const client = await kit.client(options);
      return answered(await client.callTool(name, given));
    },
  };
}

/** Reads a tool result. */
export function answered(result: JsonObject): Answered {
  const [first] = (result.content ?? []) as readonly JsonObject[];
  return {
    output: result.structuredContent as JsonObject | undefined,
    isError: result.isError === true,
    text: String(first?.text ?? ''),
  };
}

/** A server with tools that echo, add, return structured content, and fail. */
export function farServer(): FakeServer {
  return fakeServer()
    .tool('echo', ({ arguments: { message } }) => text(String(message)), {
      inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
    .tool(
      'sum',
      ({ arguments: { a, b } }) => ({
        content: [{ type: 'text', text: String(Number(a) + Number(b)) }],
        structuredContent: { total: Number(a) + Number(b), types: [typeof a, typeof b] },
      }),
      {
        inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'integer' } } },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
    )
    .tool('fail', ({ arguments: { why } }) => ({
      content: [{ type: 'text', text: String(why ?? 'it broke') }],
      isError: true,
    }))
    .tool('mirror', ({ arguments: given }) => ({ content: [], structuredContent: given }));
}

/** Problems of the definitions in a file, `path: message`. */
export function problemsOf(...compositeTools: Definitions): string[] {
  const read = compositeConfig.safeParse({ compositeTools });
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${fieldPath(path.slice(1))}: ${message}`);
}

/** A composite tool with these steps. */
export function composite(steps: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { name: 'flow', steps, ...more };
}
