import { fakeServer, testGateway } from '../../core/testing/index.ts';

const CLIENTS = 100;
const ROUNDS = 10;

/** Milliseconds from a backend's change to the notification of the last of 100 listening clients; median of ten changes. */
export async function changeToNotification(): Promise<number> {
  const server = fakeServer(['2026-07-28']).tool('first');
  await using kit = await testGateway({ plan: { limits: { streamsPerCaller: CLIENTS } }, backends: { far: server } });
  const listeners = Array.from({ length: CLIENTS }, () => listen((request) => kit.gateway.fetch(request)));
  await Promise.all(listeners.map(({ open }) => open));
  // There are no sockets, and the gateway's timers are unreferenced, so this keeps the process alive.
  const alive = setInterval(() => {}, 1_000);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const all = Promise.all(listeners.map(({ next }) => next()));
    const startedMs = performance.now();
    server.tool(`tool_${round}`).notify('notifications/tools/list_changed');
    await all;
    times.push(performance.now() - startedMs);
  }
  clearInterval(alive);
  for (const { close } of listeners) close();
  return times.sort((a, b) => a - b)[ROUNDS / 2] ?? 0;
}

/** One client with an open `subscriptions/listen`. */
function listen(fetchFrom: (request: Request) => Promise<Response>) {
  const gone = new AbortController();
  let wake: (() => void) | undefined;
  let opened: (() => void) | undefined;
  const open = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen',
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: gone.signal };
  void fetchFrom(new Request('http://localhost/mcp', init)).then(
    async (response) => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        const text = decoder.decode(chunk as Uint8Array);
        if (text.includes('acknowledged')) opened?.();
        if (text.includes('tools/list_changed')) wake?.();
      }
    },
    () => {},
  );
  return {
    open,
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
    close: () => gone.abort(),
  };
}
