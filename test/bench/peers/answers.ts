import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const CALL_MS = 30_000;
const AT_ONCE = 50;
const MEGABYTE = 1_048_576;
const TEXT = 'Zażółć – 日本語 – 😀 "quoted" \\ back\tslash\nline';
/** Tools of the backend. */
const TOOLS = ['echo', 'fail', 'tool_0', 'tool_1'] as const;

type ToolName = (typeof TOOLS)[number];
type Call = (tool: ToolName, text?: string) => Promise<{ readonly text: string; readonly isError: boolean }>;

/** What was wrong, or `ok`. */
export type Answers = Readonly<Record<keyof typeof CHECKS, string>>;

/**
 * Checks the answers of a gateway with the client of the TypeScript SDK, before it is measured. A gateway may rename tools: `far_echo`,
 * `far-tool-1` and `far/fail` are found by their ends.
 */
export async function checkAnswers(url: string, backends: number): Promise<Answers> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)), { timeout: CALL_MS });
  try {
    const names = (await client.listTools(undefined, { timeout: CALL_MS })).tools.map(({ name }) => name);
    const call: Call = async (tool, text = '') => {
      const name = toolAt(names, tool);
      if (name === undefined) throw new Error(`the tool ${tool} is not listed`);
      const { content, isError } = await client.callTool({ name, arguments: { text } }, { timeout: CALL_MS });
      const [first] = content;
      return { text: first?.type === 'text' ? first.text : JSON.stringify(content), isError: isError === true };
    };
    const answers: Record<string, string> = {};
    for (const [check, fault] of Object.entries(CHECKS)) {
      answers[check] = await fault({ names, call, backends }).catch(shortened);
    }
    return answers as Answers;
  } finally {
    await client.close().catch(() => {});
  }
}

/** The name that a gateway gives a tool; of several backends the one named far. */
export function toolAt(names: readonly string[], tool: string): string | undefined {
  const found = names.filter((name) => plain(name) === tool || plain(name).endsWith(`_${tool}`));
  return found.find((name) => plain(name).startsWith('far')) ?? found[0];
}

const plain = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '_');

const CHECKS = {
  'all tools listed': async ({ names, backends }: Checked) => {
    const missing = TOOLS.filter((tool) => toolAt(names, tool) === undefined);
    if (missing.length > 0) return `not listed: ${missing.join(', ')}`;
    const ours = names.filter((name) => TOOLS.some((tool) => plain(name).endsWith(tool)));
    return ours.length === TOOLS.length * backends ? 'ok' : `${ours.length} of ${TOOLS.length * backends}`;
  },
  'Unicode text': async ({ call }: Checked) => {
    const { text } = await call('echo', TEXT);
    return text === TEXT ? 'ok' : `another text: ${JSON.stringify(text).slice(0, 100)}`;
  },
  'result of 1 MB': async ({ call }: Checked) => {
    const { text } = await call('tool_1');
    return text.length === MEGABYTE ? 'ok' : `${text.length} characters: ${text.slice(0, 100)}`;
  },
  'tool error': async ({ call }: Checked) => {
    const { text, isError } = await call('fail');
    if (!isError) return 'without isError';
    return text === 'The tool failed.' ? 'ok' : `another text: ${text.slice(0, 100)}`;
  },
  '50 calls at once': async ({ call }: Checked) => {
    const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, (_, n) => call('echo', `n${n}n`)));
    const wrong = results.filter((each, n) => each.status === 'rejected' || each.value.text !== `n${n}n`);
    if (wrong.length === 0) return 'ok';
    const first = wrong.find((each) => each.status === 'rejected');
    return `${wrong.length} wrong${first === undefined ? '' : `: ${shortened(first.reason)}`}`;
  },
} as const satisfies Readonly<Record<string, (given: Checked) => Promise<string>>>;

interface Checked {
  readonly names: readonly string[];
  readonly call: Call;
  readonly backends: number;
}

function shortened(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 150);
}
