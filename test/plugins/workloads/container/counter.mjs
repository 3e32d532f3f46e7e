// A stdio server with a counter in memory. It takes `initialize` once, as a strict server does.
import { createInterface } from 'node:readline';

let count = 0;
let isInitialized = false;
let countedOnce = () => {};
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name) => ({ name, inputSchema: { type: 'object' } });

const ANSWERS = {
  initialize() {
    if (isInitialized) throw new Error('already initialized');
    isInitialized = true;
    const capabilities = { tools: {} };
    return { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'counter', version: '1' } };
  },
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool('count'), tool('slow')] }),
  async 'tools/call'({ name }) {
    if (name === 'slow') {
      const counted = new Promise((resolve) => {
        countedOnce = resolve;
      });
      console.error('slow is called');
      await counted;
      count += 1;
      return { content: [{ type: 'text', text: 'late' }] };
    }
    count += 1;
    setImmediate(countedOnce); // a slow call ends right after the answer to the next count
    return { content: [{ type: 'text', text: `${count}` }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method];
  if (answer === undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
  else
    Promise.resolve()
      .then(() => answer(params))
      .then(
        (result) => write({ id, result }),
        (cause) => write({ id, error: { code: -32600, message: cause.message } }),
      );
}
