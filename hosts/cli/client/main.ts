import { isObject, type JsonObject } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { argumentsFrom } from '../../shared/client/arguments.ts';
import type { ChosenEndpoint } from '../../shared/client/choose-endpoint.ts';
import { headersOf, withHeaders } from '../../shared/client/headers.ts';
import type { McpClient, RpcError } from '../../shared/client/mcp-client.ts';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { GATEWAY_FLAG, GATEWAY_HELP } from '../../shared/running/gateway-flag.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { NoSuchTool, NoToolYet, UsageError } from '../../shared/usage-error.ts';
import { nearestTools } from './nearest-tools.ts';
import { unknownArguments } from './unknown-arguments.ts';

interface ClientOptions {
  readonly url?: string;
  readonly gateway?: string;
  readonly header: readonly string[];
  readonly tokenEnv?: string;
  readonly timeout?: number;
  readonly format: 'text' | 'json';
}

interface WaitOptions extends ClientOptions {
  /** Milliseconds. */
  readonly wait?: number;
}

interface CallOptions extends WaitOptions {
  readonly args?: string;
}

const URL_HELP = 'the endpoint (default: http://127.0.0.1:4483/mcp, or the only gateway that runs on this machine)';
const DESCRIPTION_CHARACTERS = 100;
const DEFAULT_TIMEOUT_MS = 60_000;
const LIST_WAIT_MS = 10_000;
const CALL_WAIT_MS = 60_000;

/** Adds `toolmgr tools` and `toolmgr call`: a person sees it work with no client at hand. */
export function addClientCommands(program: Command): void {
  const tools = program
    .command('tools')
    .description('list the tools of a running endpoint')
    .option('--wait <duration>', 'how long to wait for backends that are still starting (default: 10s)', waitFrom);
  withEndpoint(tools)
    .addHelpText(
      'after',
      '\nExamples:\n  toolmgr tools\n  toolmgr tools --url https://mcp.example.com/mcp --format json',
    )
    .action((options: WaitOptions) => withClient(options, (client, { url }) => printTools(client, url, options)));
  addPreflight(tools);
  withEndpoint(
    program
      .command('call')
      .description('call a tool of a running endpoint')
      .argument('<tool>', 'name of the tool, as `toolmgr tools` lists it')
      .argument('[pairs...]', 'arguments as key=value')
      .option('--args <json>', 'arguments as one JSON object')
      .option(
        '--wait <duration>',
        'how long to wait for a tool while backends are still starting (default: 1m)',
        waitFrom,
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolmgr call everything_echo message="hello world"
  toolmgr call everything_get-sum a=1 b=2
  toolmgr call memory_create_entities --args '{"entities":[]}' --format json

Exit codes: 0 the tool answered; 1 wrong usage, or no answer; ${EXIT_CODES.toolFailed.code} the tool failed, or the endpoint refused the call;
${EXIT_CODES.notYet.code} it is not there, and backends that may have it are not ready; ${EXIT_CODES.unknown.code} there is no such tool.`,
    )
    .action((tool: string, pairs: string[], options: CallOptions) =>
      withClient(options, (client, endpoint) => callTool({ client, ...endpoint, tool, pairs, options })),
    );
}

function addPreflight(tools: Command): void {
  withEndpoint(
    tools
      .command('preflight')
      .description('check that tools exist and that this caller may use them, without calling them')
      .argument('[tools...]', 'names of the tools that are needed')
      .option('--read-only', 'also require that the server says of each tool that it only reads')
      .addOption(
        new Option('--pin <name=hash>', 'also require this definition of a tool; may be repeated')
          .argParser(collect)
          .default([], 'none'),
      )
      .option('--wait <duration>', 'how long to try again while a tool cannot be used yet', timeoutFrom),
  )
    .addHelpText(
      'after',
      `
Examples:
  toolmgr tools preflight memory_create_entities memory_read_graph --wait 60s
  toolmgr tools preflight everything_echo --read-only --json
  toolmgr tools preflight github_search --url https://mcp.example.com/mcp --token-env TOKEN

Exit codes: 0 ready; 10 degraded: try again; 11 blocked: a tool cannot be used; 12 unknown: there is no such tool, or no answer.`,
    )
    .action(async (names: string[], options) =>
      (await import('./preflight.ts')).preflight(names, { timeout: DEFAULT_TIMEOUT_MS, ...options }),
    );
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function withEndpoint(command: Command): Command {
  return withHeaders(
    command
      .addOption(new Option('--url <url>', URL_HELP).env('TOOLMGR_URL'))
      .addOption(new Option(GATEWAY_FLAG, GATEWAY_HELP).conflicts('url')),
  )
    .option('--timeout <duration>', 'longest silence while waiting (default: 1m)', timeoutFrom)
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'));
}

async function withClient(
  options: ClientOptions,
  work: (client: McpClient, endpoint: ChosenEndpoint) => Promise<void>,
): Promise<void> {
  const [{ connect, RpcError }, { chooseEndpoint }] = await Promise.all([
    import('../../shared/client/mcp-client.ts'),
    import('../../shared/client/choose-endpoint.ts'),
  ]);
  const endpoint = await chooseEndpoint(options);
  const { url } = endpoint;
  let client: McpClient | undefined;
  try {
    client = await connect(url, {
      headers: headersOf(options.header, options.tokenEnv),
      timeoutMs: options.timeout ?? DEFAULT_TIMEOUT_MS,
    });
    await work(client, endpoint);
  } catch (cause) {
    throw cause instanceof RpcError ? new UsageError(`${url} answers: ${describeError(cause)}`) : cause;
  } finally {
    await client?.close();
  }
}

async function printTools(client: McpClient, url: string, { format, wait }: WaitOptions): Promise<void> {
  const { listUntilThere } = await import('./list-until-there.ts');
  const tools = await listUntilThere(client, undefined, wait ?? LIST_WAIT_MS);
  if (format === 'json') return stdout.json(tools);
  const lacking = client.lacking();
  if (lacking.length > 0) stderr.line(`${stderr.yellow('not all tools are here yet:')} ${lacking.join(', ')}`);
  if (tools.length === 0) return stderr.line(`${url} lists no tools`);
  for (const line of columns(tools.map((tool) => [printable(String(tool.name)), printable(shortDescription(tool))])))
    stdout.line(line);
}

interface AskedCall extends ChosenEndpoint {
  readonly client: McpClient;
  readonly tool: string;
  readonly pairs: readonly string[];
  readonly options: CallOptions;
}

async function callTool({ client, url, record, tool: name, pairs, options }: AskedCall): Promise<void> {
  const [{ RpcError }, { callWhenStarted, isStarting }, { listUntilThere }, { heldToolAdvice }] = await Promise.all([
    import('../../shared/client/mcp-client.ts'),
    import('./call-when-started.ts'),
    import('./list-until-there.ts'),
    import('./held-tool.ts'),
  ]);
  const waitMs = options.wait ?? CALL_WAIT_MS;
  const deadlineMs = performance.now() + waitMs;
  // a server that cannot list just now may still be called: then the arguments are read without a schema
  const tools = await listUntilThere(client, name, waitMs).catch((cause: unknown) => {
    if (cause instanceof RpcError) return undefined;
    throw cause;
  });
  const listed = tools?.find((one) => one.name === name);
  // a held tool is not listed; the gateway answers why
  const advice = tools !== undefined && listed === undefined ? await heldToolAdvice(name, record) : undefined;
  const tool =
    listed ?? (tools === undefined || advice !== undefined ? { name } : unknownTool(name, tools, client, url, options));
  const schema = 'inputSchema' in tool ? tool.inputSchema : undefined;
  const args = argumentsFrom(options.args, pairs, schema);
  for (const warning of unknownArguments(name, args, schema))
    stderr.line(`${stderr.yellow('warning')} ${printable(warning)}`);
  try {
    const call = () => client.callTool(tool, args, stderr.isTty ? showProgress : undefined);
    const result = await callWhenStarted(call, deadlineMs);
    if (stderr.isTty) process.stderr.write('\r\u001b[K');
    printResult(result, options.format);
    if (result.isError === true || result.resultType === 'input_required')
      process.exitCode = (isStarting(result) ? EXIT_CODES.notYet : EXIT_CODES.toolFailed).code;
  } catch (cause) {
    if (!(cause instanceof RpcError)) throw cause;
    if (options.format === 'json') stdout.line(JSON.stringify({ error: { code: cause.code, message: cause.message } }));
    else stderr.line(`${stderr.red('failed')} ${describeError(cause)}`);
    process.exitCode = (isUnknownTool(cause) ? EXIT_CODES.unknown : EXIT_CODES.toolFailed).code;
  }
  if (advice !== undefined) stderr.line(printable(advice));
}

/** Whether a server says that it has no such tool, in the words of this gateway and of the SDKs: the code has other meanings too. */
function isUnknownTool({ code, message }: RpcError): boolean {
  return code === INVALID_PARAMS && /\b(?:unknown tool|no such tool)\b|\btool\b.* not found/i.test(message);
}

const INVALID_PARAMS = -32602;

function describeError({ message, code, retryAfterSeconds }: RpcError): string {
  const wait = retryAfterSeconds === undefined ? '' : `, try again in ${retryAfterSeconds} s`;
  return `${printable(message)} (${code})${wait}`;
}

function printResult(result: JsonObject, format: 'text' | 'json'): void {
  if (format === 'json') return stdout.json(result);
  if (result.resultType === 'input_required') {
    return stderr.line('the tool asks for input in the middle of the call, which this command cannot give');
  }
  const blocks = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  if (result.isError === true) stderr.line(stderr.red('the tool failed:'));
  for (const block of blocks) stdout.line(stdout.isTty ? printable(describeBlock(block)) : describeBlock(block));
  if (blocks.length === 0 && result.structuredContent !== undefined) {
    stdout.json(result.structuredContent);
  }
}

function describeBlock(block: JsonObject): string {
  if (block.type === 'text' && typeof block.text === 'string') return block.text;
  if (block.type === 'resource_link') return `[resource ${String(block.uri)}]`;
  if (block.type === 'resource' && isObject(block.resource)) {
    const { text, uri } = block.resource;
    return typeof text === 'string' ? text : `[resource ${String(uri)}]`;
  }
  const bytes = typeof block.data === 'string' ? `, ${Math.floor((block.data.length * 3) / 4)} bytes` : '';
  return `[${String(block.type)} ${String(block.mimeType ?? '')}${bytes}; --format json prints it]`;
}

function showProgress({ progress, total, message }: JsonObject): void {
  const done =
    typeof total === 'number' && typeof progress === 'number' ? `${Math.floor((progress / total) * 100)} %` : '';
  const said = typeof message === 'string' ? printable(message.split('\n', 1)[0] ?? '') : '';
  process.stderr.write(`\r\u001b[K${[done, said].filter((part) => part !== '').join(' ') || String(progress)}`);
}

function unknownTool(
  name: string,
  tools: readonly JsonObject[],
  client: McpClient,
  url: string,
  { url: given, gateway }: ClientOptions,
): never {
  const lacking = client.lacking();
  const at = gateway === undefined ? (given === undefined ? '' : ` --url ${given}`) : ` --gateway ${gateway}`;
  const names = tools.map((tool) => String(tool.name));
  const near = nearestTools(name, names);
  const advice =
    near.length === 0 ? `; see them with: ${ownCommand(`tools${at}`)}` : `, did you mean ${near.join(' or ')}?`;
  const yet = lacking.length === 0 ? '' : `; not all tools are here yet: ${lacking.join(', ')}`;
  throw new (lacking.length === 0 ? NoSuchTool : NoToolYet)(`${url} has no tool ${name}${advice}${yet}`);
}

function shortDescription(tool: JsonObject): string {
  const text = typeof tool.description === 'string' ? tool.description : String(tool.title ?? '');
  const first = text.split('\n', 1)[0] ?? '';
  return first.length > DESCRIPTION_CHARACTERS ? `${first.slice(0, DESCRIPTION_CHARACTERS - 1)}…` : first;
}

function waitFrom(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError('expected a duration with a unit, such as 90s, or 0s');
  return Math.ceil(ms);
}

function timeoutFrom(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError('expected a duration with a unit, such as 90s or 5m');
  return Math.ceil(ms);
}
