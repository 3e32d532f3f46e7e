import { describe, expect, it } from 'vitest';
import { ProcessGroup } from '../../../core/backend/transports/process-group.ts';

/** What a program with this script passes on of its stderr. */
async function linesOf(script: string, env: Record<string, string> = {}): Promise<readonly string[]> {
  const lines: string[] = [];
  const command = { file: process.execPath, args: ['-e', script], env };
  const group = new ProcessGroup(command, { environment: process.env, onStderrLine: (line) => lines.push(line) });
  group.child.stdout?.resume();
  await new Promise((resolve) => group.child.once('close', resolve));
  return lines;
}

describe('lines of stderr', () => {
  it('are passed on whole, the last one also without its end', async () => {
    const script = `process.stderr.write('one\\r\\n\\ntw'); setTimeout(() => process.stderr.write('o\\nthree'), 50)`;
    expect(await linesOf(script)).toEqual(['one', 'two', 'three']);
  });

  it('have no value of the environment, also of a value with several lines', async () => {
    const env = { TOKEN: 'token-1234', KEY: 'first-part\nsecond-part' };
    const script = 'console.error("a " + process.env.TOKEN); console.error(process.env.KEY)';
    expect(await linesOf(script, env)).toEqual(['a [secret]', '[secret]', '[secret]']);
  });

  it('are left out when they are too long, and the next one is passed on', async () => {
    const lines = await linesOf(`process.stderr.write('x'.repeat(100000) + '\\nnext\\n')`);
    expect(lines).toEqual([expect.stringContaining('left out'), 'next']);
  });
});
