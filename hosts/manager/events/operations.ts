import { type ManagementEvent, type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { EVENT_BOUNDS, type EventHub, type Subscription, TOO_SLOW } from './event-hub.ts';

const RETRY_MS = 2_000;
const HEARTBEAT_MS = 15_000;

/** `GET /api/v1beta/events`. */
export function eventOperations(hub: EventHub): readonly Operation[] {
  return [
    operation({
      id: 'streamEvents',
      method: 'GET',
      path: '/api/v1beta/events',
      tag: 'events',
      summary: 'Stream what changes, as server-sent events',
      description: [
        'Each event has an `id`, a name (`workload`, `group`, `client`, `registry`, `secret`, `skill`, `pin`, `operation`) and a JSON',
        'object that says what changed. After a reconnect with `Last-Event-ID` the missed events are sent, or the event',
        '`missed` when they are no longer kept: then read the state again. A comment is sent every 15 seconds.',
      ].join('\n'),
      query: z.strictObject({}),
      answers: {
        200: {
          description: 'the stream',
          mediaType: 'text/event-stream',
          schema: z.string(),
          example: 'id: 8f3a-1\nevent: workload\ndata: {"type":"workload","name":"everything","status":"running"}\n\n',
        },
      },
      problems: ['too_many_streams'],
      timeLimit: 'stream',
      async run({ context }) {
        const reader = hub.subscribe(context.lastEventId, context.signal);
        if (reader === undefined) {
          return problem('too_many_streams', `at most ${EVENT_BOUNDS.readers} event streams may be open: close one`);
        }
        return { status: 200, stream: frames(reader, hub.epoch) };
      },
    }),
  ];
}

async function* frames(reader: Subscription, epoch: string): AsyncGenerator<string> {
  try {
    yield `retry: ${RETRY_MS}\n: connected\n\n`;
    if (reader.missed) yield 'event: missed\ndata: {}\n\n';
    for (;;) {
      const events = await reader.next(HEARTBEAT_MS);
      if (events === undefined) return;
      // the client connects again with its last id, and gets what is kept
      if (events === TOO_SLOW) return;
      yield events.length === 0
        ? ': alive\n\n'
        : events.map(({ id, event }) => frame(`${epoch}-${id}`, event)).join('');
    }
  } finally {
    reader.end();
  }
}

function frame(id: string, event: ManagementEvent): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
