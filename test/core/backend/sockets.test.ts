import type { Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { answer, type Got, httpBackend, httpServer, legacyAnswers, managerWith, send } from './support.ts';

const NEVER = new AbortController().signal;

describe('an HTTP backend that goes away', () => {
  proves(
    'choice.backend.sockets-dropped',
    'has its connections closed, and what is under way on one still ends well',
    async () => {
      let isOut = false;
      const held: Got[] = [];
      const answers = legacyAnswers({
        before(got) {
          if (isOut && got.message?.method !== undefined) return void got.response.writeHead(503).end() === undefined;
          if (got.message?.params?.name !== 'held') return false;
          held.push(got);
          return true;
        },
      });
      const server = await httpServer(answers);
      const { manager } = await managerWith([httpBackend(server.url)]);
      const socketsOf = () => [...new Set(server.all.map(({ response }) => response.req.socket as Socket))];
      const calls = Array.from({ length: 12 }, () => send(manager, { backend: 'far', original: 'held' }));
      await until(() => held.length === 12);
      const [last] = held;
      for (const got of held.slice(1)) answer(got, { content: [] });
      await Promise.all(calls.slice(1));
      const idle = socketsOf().filter((socket) => socket !== last?.response.req.socket);
      expect(idle.filter((socket) => !socket.destroyed).length).toBeGreaterThanOrEqual(10);

      isOut = true;
      for (let n = 0; n < 2; n++) await manager.probe('far', 5_000, NEVER).catch(() => undefined);
      expect(manager.states()[0]?.status).toBe('unavailable');
      await until(() => idle.every((socket) => socket.destroyed), 2_500); // their own idle time is 3 s and more
      isOut = false;
      if (last !== undefined) answer(last, { content: [{ type: 'text', text: 'late' }] });
      expect((await calls[0])?.value).toEqual({ content: [{ type: 'text', text: 'late' }] });
    },
  );
});
