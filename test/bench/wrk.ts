import { spawn } from 'node:child_process';
import { OTHER_CORE } from './processes.ts';

/** A text of any content as a literal of Lua. */
export function lua(text: string): string {
  return `[==[${text}]==]`;
}

/** Runs wrk on the core of the clients; resolves with what it printed. */
export function wrk(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', OTHER_CORE, 'wrk', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`wrk ended with ${code}: ${out}`))));
  });
}
