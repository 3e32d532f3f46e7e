import { wholeLines } from '@toolmgr/plugins/kit/files';
import { describe, expect, it } from 'vitest';

function log() {
  const written: string[] = [];
  const program = () => wholeLines((lines) => written.push(lines.toString()));
  return { written, program };
}

describe('the lines of programs with one log', () => {
  it('stay whole when the programs write at the same time', () => {
    const { written, program } = log();
    const [one, two] = [program(), program()];
    one.add(Buffer.from('a line '));
    two.add(Buffer.from('first\nsecond, '));
    one.add(Buffer.from('in two writes\n'));
    two.add(Buffer.from('without an end'));
    two.end();
    two.end();
    one.end();
    expect(written).toEqual(['first\n', 'a line in two writes\n', 'second, without an end\n']);
  });

  it('stay whole when one write has many of them and the beginning of one more', () => {
    const { written, program } = log();
    const [one, two] = [program(), program()];
    one.add(Buffer.from(`${'many\n'.repeat(10_000)}a line `));
    two.add(Buffer.from('another\n'));
    one.add(Buffer.from('in two writes\n'));
    expect(written.slice(1)).toEqual(['another\n', 'a line in two writes\n']);
  });

  it('are passed on in pieces when they are too long, so that memory has a bound', () => {
    const { written, program } = log();
    const one = program();
    for (let n = 0; n < 5; n++) one.add(Buffer.alloc(10_000, 'x'));
    one.end();
    expect(written.join('').length).toBe(50_001);
    expect(written.length).toBeGreaterThan(1);
  });
});
