import { EventEmitter } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { openLiveRegion } from '../../../../hosts/shared/gateway-log/live-region.ts';

/** A terminal whose output is collected. */
function terminal(columns = 40) {
  let text = '';
  const write = (more: string | Uint8Array): boolean => {
    text += typeof more === 'string' ? more : Buffer.from(more).toString();
    return true;
  };
  const stream = Object.assign(new EventEmitter(), { isTTY: true, columns, rows: 10, write });
  const shown = (): string => text.replaceAll('\u001b[?2026h', '').replaceAll('\u001b[?2026l', '');
  const taken = (): string => {
    const before = shown();
    text = '';
    return before;
  };
  return { stream: stream as unknown as NodeJS.WriteStream, write, shown, taken };
}

const ERASE_ONE = '\u001b[2K\u001b[1A\u001b[2K\u001b[G';

it('hides the cursor while it has lines, and shows it again', () => {
  const { stream, write, taken } = terminal();
  const region = openLiveRegion(stream);
  expect(stream.write).toBe(write);
  region.show(['one']);
  expect(taken()).toBe('\u001b[?25lone\n');
  region.show([]);
  expect(taken()).toBe(`${ERASE_ONE}\u001b[?25h`);
  expect([stream.write, stream.listenerCount('resize')]).toEqual([write, 0]);
  region.close();
  expect(taken()).toBe('');
});

it('other output goes above the lines, which are drawn again', async () => {
  const [one, other] = [terminal(), terminal()];
  const region = openLiveRegion(one.stream, [one.stream, other.stream]);
  onTestFinished(region.close);
  region.show(['live']);
  one.taken();
  one.stream.write('logged\n');
  await expect.poll(one.shown).toBe(`${ERASE_ONE}logged\nlive\n`);
  one.taken();
  other.stream.write(Buffer.from('result\n'));
  expect(other.taken()).toBe('result\n');
  await expect.poll(one.shown).toBe(`${ERASE_ONE}live\n`);
});

it('waits for the end of a line that other output has begun', async () => {
  const { stream, shown, taken } = terminal();
  const region = openLiveRegion(stream);
  onTestFinished(region.close);
  region.show(['live']);
  stream.write('question: ');
  region.show(['live, later']);
  taken();
  stream.write('answer\n');
  await expect.poll(shown).toBe('answer\nlive, later\n');
});

it('removes the rows that the terminal has made of its lines when it became narrower', () => {
  const { stream, taken } = terminal(40);
  const region = openLiveRegion(stream);
  onTestFinished(region.close);
  region.show(['x'.repeat(30), 'short']);
  taken();
  stream.columns = 20;
  stream.emit('resize');
  expect(taken()).toBe('\u001b[3A\r\u001b[0J');
  region.show(['next']);
  expect(taken()).toBe('next\n');
});

it('shows the cursor when the process exits', () => {
  const { stream, taken } = terminal();
  const before = process.listeners('exit');
  const region = openLiveRegion(stream);
  region.show(['live']);
  const added = process.listeners('exit').filter((each) => !before.includes(each));
  taken();
  added[0]?.(0);
  expect(taken()).toBe(`${ERASE_ONE}\u001b[?25h`);
  region.close();
  expect(process.listeners('exit')).toEqual(before);
});
