import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import getPort from 'get-port';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import type { DocBlock } from './blocks.ts';
import { outputProblem } from './console-output.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMAND_MS = 60_000;
const STOP_MS = 10_000;

/** A command line of a console block with the output that the page shows. */
export interface ConsoleStep {
  readonly line: number;
  readonly command: string;
  readonly expected: string;
}

/** The commands of a console block: lines after `$ `, continued after a backslash; the other lines are output. */
export function consoleSteps({ text, line }: Pick<DocBlock, 'text' | 'line'>): readonly ConsoleStep[] {
  const steps: { line: number; command: string; output: string[] }[] = [];
  for (const [at, each] of text.split('\n').entries()) {
    const last = steps.at(-1);
    if (each.startsWith('$ ')) steps.push({ line: line + at + 1, command: each.slice(2), output: [] });
    else if (last?.command.endsWith('\\')) last.command = `${last.command}\n${each}`;
    else if (last !== undefined) last.output.push(each);
    else throw new Error(`line ${line + 1}: a console block begins with "$ "`);
  }
  return steps.map(({ output, ...step }) => ({ ...step, expected: output.join('\n').trimEnd() }));
}

/** Gateways run until the page ends; other commands end by themselves. */
const SERVES =
  /^toolmgr (?:up|start|serve|vmcp serve|run .*--foreground)\b(?!.*(?:--help|--dry-run|--install|--status))/;

/**
 * Runs the console blocks of one page in order, in one folder with the files that the page gives.
 * @returns what differs, with line numbers
 */
export async function runConsole(blocks: readonly DocBlock[]): Promise<readonly string[]> {
  await using session = await openSession();
  const problems: string[] = [];
  for (const block of blocks) {
    if (block.from !== undefined) await cp(join(ROOT, block.from), session.folder, { recursive: true });
    if (block.file !== undefined) {
      await mkdir(dirname(join(session.folder, block.file)), { recursive: true });
      await writeFile(join(session.folder, block.file), `${block.text}\n`);
    }
    if (block.language !== 'console') continue;
    for (const step of consoleSteps(block)) {
      const problem = await session.run(step);
      if (problem !== undefined) problems.push(`${block.page}:${step.line}: ${problem}`);
    }
  }
  return problems;
}

interface Session extends AsyncDisposable {
  readonly folder: string;
  /** Runs one command; returns what is wrong with its output. */
  run(step: ConsoleStep): Promise<string | undefined>;
}

async function openSession(): Promise<Session> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'toolmgr-page-')));
  const [home, folder, programs] = ['home', 'work', 'bin'].map((name) => join(root, name)) as [string, string, string];
  for (const each of [home, folder, programs]) await mkdir(each);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const shim = join(programs, 'toolmgr');
  await writeFile(shim, `#!/bin/sh\nexec '${process.execPath}' --conditions=development '${PROGRAM}' "$@"\n`);
  await chmod(shim, 0o755);
  const port = await getPort();
  const env = {
    ...{ PATH: `${programs}:${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, HOME: home, NO_COLOR: '1' },
    ...{ LANG: 'C.UTF-8', COLUMNS: '200', PORT: String(port), TOOLMGR_URL: `http://127.0.0.1:${port}/mcp` },
    ...{ npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? home, '.npm') },
    ...{ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(home, 'compiled') },
  };
  const plain = (text: string): string =>
    text.replaceAll(`:${port}`, ':4483').replaceAll(`${folder}/`, '').replaceAll(folder, '.').replaceAll(home, '~');
  const stops: (() => Promise<void>)[] = [];
  return {
    folder,
    async run({ command, expected }) {
      const given = command.replaceAll(':4483', `:${port}`);
      const line = SERVES.test(given) && !given.includes('--port') ? `${given} --port ${port}` : given;
      const child = spawn('sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
      const state = { code: undefined as number | null | undefined };
      const closed = once(child, 'close').then(([code]) => {
        state.code = code as number | null;
      });
      const problem = (): string | undefined => outputProblem(plain(printed), expected, SERVES.test(line));
      const isOver = (): boolean => state.code !== undefined;
      const signal = (name: NodeJS.Signals): void => {
        if (child.pid !== undefined && !isOver()) process.kill(-child.pid, name);
      };
      stops.push(async () => {
        signal('SIGTERM');
        const cut = setTimeout(() => signal('SIGKILL'), STOP_MS);
        await closed;
        clearTimeout(cut);
      });
      await until(() => isOver() || (SERVES.test(line) && problem() === undefined), COMMAND_MS).catch(() => {});
      const found = problem();
      if (found !== undefined) return found;
      // the next command may list what the servers have: on a busy machine they start after the line that says "serves"
      if (SERVES.test(line)) await once(spawn(shim, ['wait', '--timeout', '30s'], { cwd: folder, env }), 'close');
      if (expected === '' && state.code !== 0) return `exit code ${state.code}:\n${printed}`;
      return undefined;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(stops.map((stop) => stop()));
      await rm(root, { recursive: true, force: true });
    },
  };
}
