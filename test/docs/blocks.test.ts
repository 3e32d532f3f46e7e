import { afterAll, describe, expect, it } from 'vitest';
import { allBlocks, blocksOf, checkedPages, type DocBlock } from './blocks.ts';
import { checkBlock } from './checks.ts';
import { consoleSteps } from './console-session.ts';
import { commandsIn } from './shell-lines.ts';

const FENCE = '```';

describe('every block of the documentation', () => {
  const counts = new Map<string, number>();
  const add = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

  afterAll(() => {
    const rows = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([what, count]) => `  ${count} ${what}`);
    process.stdout.write(`blocks of the documentation:\n${rows.join('\n')}\n`);
  });

  it.each([...checkedPages()])('is checked: %s', async (page, text) => {
    const faults: string[] = [];
    for (const block of blocksOf(page, text)) {
      try {
        const { checked, notRun } = await checkBlock(block);
        add(`blocks: ${checked}`);
        for (const reason of notRun) add(`not run: ${reason}`);
      } catch (cause) {
        faults.push(`${page}:${block.line}: ${(cause as Error).message}`);
      }
    }
    expect(faults).toEqual([]);
  });
});

describe('the check of blocks', () => {
  const checked = async (fence: string, text: string): Promise<unknown> => {
    const [block] = blocksOf('page.md', `${FENCE}${fence}\n${text}\n${FENCE}`);
    if (block === undefined) throw new Error('no block');
    return checkBlock(block);
  };

  it.each([
    ['a block without a language', '', 'toolmgr tools', 'no known kind'],
    ['an unknown command', 'sh', 'toolmgr tolls', "unknown command 'tolls'"],
    ['an unknown flag', 'sh', 'toolmgr tools --ulr x', "unknown option '--ulr'"],
    ['an unpublished package', 'sh', 'npx -y toolmgr up', 'toolmgr is not in the public registry'],
    ['an unpublished package', 'sh', 'npm install -g @toolmgr/core@1', '@toolmgr/core@1 is not in the public registry'],
    ['a flag with a wrong value', 'sh', 'npm run -s toolmgr -- serve --port x', 'port'],
    ['an unknown script of npm', 'sh', 'npm run nothing', 'no such script'],
    ['an unknown program', 'sh', 'frobnicate', 'does not know the program frobnicate'],
    ['a file that does not exist', 'sh', 'helm install x deploy/charts/nothing', 'does not exist'],
    ['a vmcp key that does not exist', 'yaml', 'rateLimits: {}', 'unknown key "rateLimits"'],
    [
      'an object that no cluster accepts',
      'yaml',
      'apiVersion: toolmgr.dev/v1beta1\nkind: MCPServer\nmetadata: { name: x }\nspec: { imagee: y }',
      'imagee',
    ],
    ['a client file without servers', 'json', '{"mcpServers": {}}', 'no servers'],
    ['JSON without a kind', 'json', '{}', 'needs a kind'],
  ])('refuses %s', async (_what, fence, text, reason) => {
    await expect(checked(fence, text)).rejects.toThrow(reason);
  });

  it('finds the programs of a line', () => {
    expect(commandsIn('A=1 one "a b" \\\n  --c=\'d\' > file # four\n(two && three) | five $(six x)')).toEqual([
      ['one', 'a b', '--c=d'],
      ['two'],
      ['three'],
      ['five', '$(six x)'],
    ]);
  });

  it('finds blocks in lists, with their line', () => {
    const page = `- one\n\n  ${FENCE}sh\n  toolmgr tools\n  ${FENCE}\n`;
    expect(blocksOf('x.md', page)).toEqual([
      { page: 'x.md', line: 3, language: 'sh', kind: '', argument: '', text: 'toolmgr tools' },
    ]);
    expect(allBlocks().length).toBeGreaterThan(100);
  });
});

describe('a file that a command starts with', () => {
  it('is shown by the page before it', () => {
    const missing = [...checkedPages()].flatMap(([page, text]) => filesNotShown(blocksOf(page, text)));
    expect(missing).toEqual([]);
  });

  it('is missed when no block before the command shows it', () => {
    const page = `${FENCE}sh\nnpm run -s toolmgr -- up .mcp.json\n${FENCE}\n`;
    expect(filesNotShown(blocksOf('x.md', page))).toEqual(['x.md:1: .mcp.json']);
    expect(filesNotShown(blocksOf('x.md', `${FENCE}json file=.mcp.json\n{}\n${FENCE}\n${page}`))).toEqual([]);
  });
});

/** Client files that `toolmgr up` gets, and that a new user does not have. */
function filesNotShown(blocks: readonly DocBlock[]): readonly string[] {
  const shown = new Set<string>();
  return blocks.flatMap(({ page, line, language, text, file }) => {
    if (file !== undefined) shown.add(file);
    if (!['sh', 'bash', 'console'].includes(language)) return [];
    const lines = language === 'console' ? consoleSteps({ text, line }).map(({ command }) => command) : [text];
    return lines.flatMap(commandsIn).flatMap((words) => {
      const up = words.indexOf('up');
      const given = words[up + 1];
      const isFile = words.includes('toolmgr') && up > 0 && given !== undefined && !given.startsWith('-');
      return isFile && !shown.has(given) ? [`${page}:${line}: ${given}`] : [];
    });
  });
}
