import { isObject, type JsonObject, type Plugin } from '@toolmgr/core';
import { type TestBackends, type TestClient, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';

/** Script limits that are high enough for a loaded machine. */
const SCRIPT_LIMITS = { scriptTimeout: '30s', toolCallTimeout: '20s' };

/** A gateway in memory with code mode; tool names are prefixed by their backend. */
export function scriptedGateway(
  backends: TestBackends,
  codeMode: JsonObject = {},
  { plugins = [], sandbox = {}, aggregation = { conflictResolution: 'prefix' } }: ScriptedOptions = {},
): Promise<TestGateway> {
  return testGateway({
    backends,
    catalogue,
    plugins,
    plan: {
      plugins: [
        ...plugins.map(({ address }) => ({ use: address })),
        { use: 'aggregation', with: aggregation },
        { use: 'code-mode/quickjs', with: sandbox },
        { use: 'code-mode/execute-script', with: { ...SCRIPT_LIMITS, ...codeMode } },
      ],
    },
  });
}

/** Options of a test. */
export interface ScriptedOptions {
  readonly plugins?: readonly Plugin[];
  readonly sandbox?: JsonObject;
  readonly aggregation?: JsonObject;
}

/** Outcome of a script. */
export interface Scripted {
  /** The value, decoded from the text. */
  readonly value: unknown;
  /** The text of a failure. */
  readonly failure: string | undefined;
  readonly logs: string | undefined;
  readonly structured: unknown;
}

/** Runs a script as a client. */
export async function runScript(client: TestClient, script: string, data?: JsonObject): Promise<Scripted> {
  const result = await client.callTool('execute_tool_script', { script, ...(data === undefined ? {} : { data }) });
  const [first = '', second] = textsOf(result);
  const isFailure = result.isError === true;
  return {
    value: isFailure ? undefined : JSON.parse(first),
    failure: isFailure ? first : undefined,
    logs: second,
    structured: result.structuredContent,
  };
}

function textsOf({ content }: JsonObject): string[] {
  return Array.isArray(content) ? content.filter(isObject).map(({ text }) => String(text)) : [];
}
