// The client under test of the suite's client scenarios: a gateway connected to the harness, and an SDK client that makes the
// calls of a scenario.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { DriverTask } from './driver-task.ts';
import { gatewayBefore } from './gateway.ts';

/** Makes the calls of a scenario through a gateway before the harness. @throws Error when one is not answered */
export async function callThroughGateway({ harness, scenario, context, isModern }: DriverTask): Promise<void> {
  const drive = drives(context)[scenario];
  if (drive === undefined) throw new Error(`no drive for scenario ${scenario}`);
  await using gateway = await gatewayBefore({ transport: 'streamable-http', url: harness, era: 'auto' });
  // the SDK also drops tools with invalid headers from a modern list; in this scenario only the gateway should do it
  const isPinned = isModern && scenario !== 'http-invalid-tool-headers';
  const client = new Client(
    { name: 'conformance-driver', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      versionNegotiation: { mode: isPinned ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
  await drive(client);
  await client.close();
}

type Drive = (client: Client) => Promise<unknown>;

function drives(context: DriverTask['context']): Readonly<Record<string, Drive>> {
  return {
    initialize: listTools,
    'request-metadata': listTools,
    'json-schema-ref-no-deref': listTools,
    tools_call: (client) => client.callTool({ name: 'add_numbers', arguments: { a: 5, b: 3 } }),
    'sse-retry': (client) => client.callTool({ name: 'test_reconnection', arguments: {} }),
    'elicitation-sep1034-client-defaults': acceptDefaults,
    'http-standard-headers': useEverything,
    'http-custom-headers': (client) => callAsTold(client, context),
    'http-invalid-tool-headers': callWhatIsListed,
    'sep-2322-client-request-state': answerRounds,
    'json-schema-2020-12-preservation': echoSchema,
  };
}

async function listTools(client: Client): Promise<void> {
  await client.listTools();
}

async function acceptDefaults(client: Client): Promise<void> {
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  await client.callTool({ name: 'test_client_elicitation_defaults', arguments: {} });
}

async function useEverything(client: Client): Promise<void> {
  await callWhatIsListed(client);
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}

async function callWhatIsListed(client: Client): Promise<void> {
  for (const { name, inputSchema } of (await client.listTools()).tools) {
    const required = inputSchema.required ?? [];
    await client.callTool({ name, arguments: Object.fromEntries(required.map((key) => [key, 'value'])) });
  }
}

/** The harness lists the expected calls. */
async function callAsTold(client: Client, context: DriverTask['context']): Promise<void> {
  const { toolCalls = [] } = context as { readonly toolCalls?: readonly { name: string }[] };
  await client.listTools();
  for (const call of toolCalls) await client.callTool(call);
}

/** Makes another call while a round is open: the calls must not affect each other. */
async function answerRounds(client: Client): Promise<void> {
  client.setRequestHandler('elicitation/create', async () => {
    await client.callTool({ name: 'test_mrtr_unrelated', arguments: {} });
    return { action: 'accept', content: { confirmed: true } };
  });
  for (const name of ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_no_result_type']) {
    await client.callTool({ name, arguments: {} });
  }
}

async function echoSchema(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
  await client.callTool({ name: 'json_schema_echo', arguments: { schema } });
}
