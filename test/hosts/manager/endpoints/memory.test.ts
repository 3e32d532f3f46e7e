import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';

const BUDGET = 1_000_000;

describe('the memory budget of a manager', () => {
  proves(
    ['choice.limits.memory-shared', 'choice.limits.memory-flag'],
    'is one for its MCP endpoints: what an unfinished body holds at one endpoint is missing at the other',
    async () => {
      await using manager = await startManager({ memoryBudget: BUDGET });
      const { port } = new URL(manager.url);
      const head = (path: string, bytes: number): string =>
        [
          `POST ${path} HTTP/1.1`,
          `Host: 127.0.0.1:${port}`,
          `Authorization: Bearer ${manager.token}`,
          'Content-Type: application/json',
          'Accept: application/json, text/event-stream',
          `Content-Length: ${bytes}`,
          '\r\n',
        ].join('\r\n');
      const post = (path: string, bytes: number, sent: number, localAddress: string) => {
        const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
        socket.write(`${head(path, bytes)}${' '.repeat(sent)}`);
        return socket;
      };
      const statusOf = async (path: string, bytes: number, address: string): Promise<string | undefined> => {
        const socket = post(path, bytes, bytes, address);
        const answer = await new Promise((resolve) => socket.once('data', resolve));
        socket.destroy();
        return /^HTTP\/1\.1 (\d+)/.exec(String(answer))?.[1];
      };
      const small = 1_000;
      const large = 0.4 * BUDGET;
      // not JSON: read whole and then refused
      expect(await statusOf('/mcp/manager', small, '127.0.0.3')).toBe('400');
      const held = post('/mcp/groups/default', BUDGET / 2, 0.45 * BUDGET, '127.0.0.2');
      await expect.poll(() => statusOf('/mcp/manager', large, '127.0.0.3')).toBe('503');
      expect(await statusOf('/mcp/manager', small, '127.0.0.3')).toBe('400');
      held.destroy(); // its manager would wait for the body
    },
  );
});
