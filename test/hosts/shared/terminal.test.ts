import { describe, expect, it } from 'vitest';
import { createTerminal, harmless } from '../../../hosts/shared/terminal.ts';

const HOSTILE = 'a\u001b]52;c;Zm9v\u0007b\u001b[2Jc\u001b[31mred\u001b[0m\u009b1Ad\re\u001bPq\u001b\\f\u202eg\u0008';

function printed(isTTY: boolean): string {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const stream = { isTTY, write } as unknown as NodeJS.WriteStream;
  createTerminal(stream, {}).line(HOSTILE);
  return text;
}

describe('what is printed on a terminal', () => {
  it('is text and colours, whatever a server or registry says', () => {
    expect(printed(true)).toBe('a]52;c;Zm9vb[2Jc\u001b[31mred\u001b[0m1AdePq\\fg\n');
    expect(harmless('one\r\n\ttwo\u001b')).toBe('one\r\n\ttwo');
    expect(harmless('\u001b[1;31mx\u001b[?25l')).toBe('\u001b[1;31mx[?25l');
  });

  it('is unchanged in a pipe', () => {
    expect(printed(false)).toBe(`${HOSTILE}\n`);
  });
});
