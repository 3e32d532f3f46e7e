import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@toolmgr/core';

/** The common interface of both generations of SDK clients. */
export interface SdkClient extends AsyncDisposable {
  readonly version: string | undefined;
  toolNames(): Promise<readonly string[]>;
  /** Text of the first content block. */
  call(name: string, given?: JsonObject, options?: CallOptions): Promise<string>;
  resourceUris(): Promise<readonly string[]>;
  read(uri: string): Promise<unknown>;
  promptNames(): Promise<readonly string[]>;
  /** Text of the first message. */
  prompt(name: string, given?: Record<string, string>): Promise<string>;
  complete(prompt: string, argument: string, value: string): Promise<readonly string[]>;
}

export interface CallOptions {
  readonly onprogress?: (told: { readonly progress: number }) => void;
  readonly signal?: AbortSignal;
}

const INFO = { name: 'real-client', version: '1.0.0' };
const ANSWER = { action: 'accept' as const, content: { name: 'Ada' } };

/** The SDK's clients with each setting of the revision. */
export const SDK_CLIENTS = {
  'SDK 1.x': { isModern: false, connect: connectV1 },
  'SDK 2.x, legacy': { isModern: false, connect: (url: string) => connectV2(url, 'legacy') },
  'SDK 2.x, auto': { isModern: true, connect: (url: string) => connectV2(url, 'auto') },
  'SDK 2.x, modern': { isModern: true, connect: (url: string) => connectV2(url, { pin: '2026-07-28' }) },
} as const satisfies Record<string, { isModern: boolean; connect(url: string): Promise<SdkClient> }>;

async function connectV1(url: string): Promise<SdkClient> {
  const client = new ClientV1(INFO, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => ANSWER);
  const transport = new TransportV1(new URL(url));
  await client.connect(transport);
  return {
    ...common(client),
    version: transport.protocolVersion,
    call: async (name, given = {}, options = {}) =>
      firstText(await client.callTool({ name, arguments: given }, undefined, options)),
    async [Symbol.asyncDispose]() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

async function connectV2(url: string, mode: 'legacy' | 'auto' | { pin: string }): Promise<SdkClient> {
  const client = new ClientV2(INFO, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', async () => ANSWER);
  const transport = new TransportV2(new URL(url));
  await client.connect(transport);
  return {
    ...common(client),
    version: client.getNegotiatedProtocolVersion(),
    call: async (name, given = {}, options = {}) =>
      firstText(await client.callTool({ name, arguments: given }, options)),
    async [Symbol.asyncDispose]() {
      if (transport.sessionId !== undefined) await transport.terminateSession();
      await client.close();
    },
  };
}

/** Methods with the same names in both generations. */
function common(client: ClientV1 | ClientV2): Omit<SdkClient, 'version' | 'call' | typeof Symbol.asyncDispose> {
  return {
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    resourceUris: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0],
    promptNames: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, given = {}) => {
      const [message] = (await client.getPrompt({ name, arguments: given })).messages;
      return message?.content.type === 'text' ? message.content.text : '';
    },
    complete: async (name, argument, value) => {
      const params = { ref: { type: 'ref/prompt', name }, argument: { name: argument, value } } as const;
      return (await client.complete(params)).completion.values;
    },
  };
}

function firstText(result: object): string {
  const { content } = result as { readonly content?: readonly { readonly text?: string }[] };
  return content?.[0]?.text ?? '';
}
