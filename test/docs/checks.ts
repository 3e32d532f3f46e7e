import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from '@toolmgr/plugins';
import { parse, stringify } from 'yaml';
import { checkManifests } from '../../hosts/operator/manifests/check-manifests.ts';
import { isManifest } from '../../hosts/operator/manifests/read-manifests.ts';
import type { DocBlock } from './blocks.ts';
import { checkShell } from './command-lines.ts';
import { OPTION_FILES } from './option-files.ts';
import { checkSteps, checkVmcp } from './vmcp-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What was done with a block: how it was checked, and what of it was not run. */
export interface BlockReport {
  readonly checked: string;
  readonly notRun: readonly string[];
}

/** Blocks of text that no program reads. */
const TEXT_KINDS: Readonly<Record<string, string>> = {
  diagram: 'a drawing',
  tree: 'names of files',
  pattern: 'patterns that the text explains; another test reads such a file',
  log: 'lines of the log; test/hosts/shared/gateway-log/repeats.test.ts compares them',
  packages: 'a file of pnpm or Yarn; test/packaging/tarballs.test.ts installs with it',
  tsconfig: 'settings of TypeScript; test/packaging/embed-page.test.ts checks types with them',
  answer: 'an answer of the API or of a gateway; another test compares its form',
};

/**
 * Checks one block by its language and kind.
 * @throws Error with what is wrong, or that the block has no known kind
 */
export async function checkBlock(block: DocBlock): Promise<BlockReport> {
  const { language, kind, argument, text, snippet, output } = block;
  if (snippet !== undefined) return checkSnippet(snippet);
  if (output !== undefined) return checkCompared(output);
  if (language === 'sh' || language === 'bash') {
    const lines = await checkShell(text);
    return { checked: 'shell', notRun: lines.flatMap((line) => ('notRun' in line ? [line.notRun] : [])) };
  }
  if (language === 'console') return { checked: 'run', notRun: [] };
  if (language === 'text' && kind === 'message') return checkWith('message', async () => checkMessage(text, argument));
  const reader = OPTION_FILES[kind];
  if (reader !== undefined && (language === 'json' || language === 'yaml')) return checkWith(kind, () => reader(text));
  if (language === 'json' && kind === '') return checkJson(text);
  const reason = ['text', 'json', 'yaml'].includes(language) ? TEXT_KINDS[kind] : undefined;
  if (language === 'yaml' && reason === undefined) return checkYaml(block);
  if (reason !== undefined) {
    if (language === 'json') JSON.parse(text);
    return { checked: 'read', notRun: [reason] };
  }
  if (language === 'markdown' && kind === 'skill') return { checked: 'read', notRun: ['a file that a reader writes'] };
  throw new Error(
    `the block has no known kind: "${[language, kind, argument].join(' ').trim()}"; see test/docs/checks.ts for the kinds`,
  );
}

/** Another test compares the block with what it printed. */
function checkCompared(name: string): BlockReport {
  const test = COMPARED[name];
  if (test === undefined) throw new Error(`no test compares the output "${name}"`);
  const call = `pageOutputProblem('${name}'`;
  if (!readFileSync(join(ROOT, test), 'utf8').includes(call)) throw new Error(`${test} does not call ${call}`);
  return { checked: `compared by ${test}`, notRun: [] };
}

/** The test that compares a block with `<!-- output:NAME -->`, by name. */
const COMPARED: Readonly<Record<string, string>> = {
  start: 'test/hosts/cli/start/start.test.ts',
  test: 'test/docs/npm-test-output.test.ts',
};

/** A message whose values vary: its fixed parts are in the source files that the block names. */
function checkMessage(text: string, sources: string): void {
  const code = sources
    .split(' ')
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n');
  const parts = text.split(/[:;,…\n]|\S*[\d"]\S*|\S+\.\S+/).filter((part) => part.trim().length >= MIN_PART);
  const missing = parts.filter((part) => !code.includes(part.trim()));
  if (parts.length === 0 || missing.length > 0) throw new Error(`${sources}: no text ${JSON.stringify(missing)}`);
}

const MIN_PART = 8;

async function checkWith(checked: string, check: () => Promise<unknown>): Promise<BlockReport> {
  await check();
  return { checked, notRun: [] };
}

/** The text is compared with the file by the test of generated pages; the file is checked with its folder. */
function checkSnippet(source: string): BlockReport {
  const [path = ''] = source.split('#');
  if (!existsSync(join(ROOT, path))) throw new Error(`${path} does not exist`);
  if (path.endsWith('.ts') && !/^(?:examples|test|core|plugins|hosts)\//.test(path))
    throw new Error(`${path} is not in a folder whose types are checked`);
  return { checked: 'snippet', notRun: [] };
}

function checkJson(text: string): Promise<BlockReport> {
  const value: unknown = JSON.parse(text);
  const isClientFile = typeof value === 'object' && value !== null && ('mcpServers' in value || 'servers' in value);
  const reader = isClientFile ? OPTION_FILES['client-file'] : undefined;
  if (reader === undefined) throw new Error('a block of JSON needs a kind, such as "json run-config"');
  return checkWith('client-file', () => reader(text));
}

async function checkYaml({ kind, argument, text }: DocBlock): Promise<BlockReport> {
  if (kind === 'broken') return checkWith('broken', () => checkBroken(text));
  if (kind === 'steps') return checkWith('steps', () => checkSteps(text));
  if (kind === 'spec') return checkWith('manifest', () => checkSpec(text));
  if (isManifest(text)) return checkWith('manifest', () => checkManifest(text));
  if (kind === 'vmcp' || kind === '')
    return checkWith('vmcp', () => checkVmcp(text, argument === '' ? undefined : argument));
  throw new Error(`a block of YAML has no kind "${kind}"`);
}

/** A file with mistakes, whose messages a console block of the page shows. */
async function checkBroken(text: string): Promise<void> {
  const isRead = await checkVmcp(text, 'plain', true).then(
    () => true,
    () => false,
  );
  if (isRead) throw new Error('the file has no mistake');
}

/** The `spec` of a VirtualMCPServer, put into a complete object. */
function checkSpec(text: string): Promise<void> {
  const { spec } = parse(text) as { spec: object };
  const whole = { groupRef: { name: 'team' }, incomingAuth: { type: 'anonymous' }, ...spec };
  const metadata = { name: 'tools', namespace: 'team' };
  return checkManifest(
    stringify({ apiVersion: 'toolmgr.dev/v1beta1', kind: 'VirtualMCPServer', metadata, spec: whole }),
  );
}

async function checkManifest(text: string): Promise<void> {
  const report = await checkManifests(text, 'block.yaml', catalogue);
  if (!report.isValid) throw new Error(JSON.stringify(report, undefined, 1));
}
