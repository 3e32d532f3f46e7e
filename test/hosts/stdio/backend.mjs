// A stdio server of the revision 2025-11-25 without an SDK. `mark` writes the file of its argument when its call is cancelled.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const names = ['big', 'mark', 'confirm', 'grow', 'echo'];
const cancelled = new Map();
const asked = new Map();
let questions = 0;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const calls = {
  big: (id, { bytes }) => send({ id, result: text('x'.repeat(bytes)) }),
  mark: (id, { file }) => cancelled.set(id, () => writeFileSync(file, 'cancelled')),
  confirm(id) {
    const question = `q${++questions}`;
    asked.set(question, ({ action }) => send({ id, result: text(action) }));
    const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } };
    send({ id: question, method: 'elicitation/create', params: { message: 'sure?', requestedSchema } });
  },
  grow(id) {
    names.push('grown');
    send({ method: 'notifications/tools/list_changed' });
    send({ id, result: text('grew') });
  },
  echo(id, given, token) {
    const answer = () => send({ id, result: text(given.text ?? '') });
    if (token === undefined) return answer();
    send({ method: 'notifications/progress', params: { progressToken: token, progress: 1, total: 2 } });
    setTimeout(answer, 200); // the SDK drops progress that arrives together with the result
  },
};
const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'backend', version: '1' },
  }),
  'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'tools/call') calls[params.name](id, params.arguments ?? {}, params._meta?.progressToken);
  else if (method === 'notifications/cancelled') cancelled.get(params.requestId)?.();
  else if (method === undefined) asked.get(id)?.(result ?? { action: 'failed' });
  else if (id !== undefined && answers[method] !== undefined) send({ id, result: answers[method]() });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown method' } });
}
