import { describe, expect, it, onTestFinished } from 'vitest';
import { DISCOVERY_CALLER } from '../../../core/backend/lists/discovery-caller.ts';
import { JsonRpcConnection } from '../../../core/backend/sessions/json-rpc-connection.ts';
import { StdioWire } from '../../../core/backend/transports/stdio.ts';
import { explainCause } from '../../../core/errors.ts';
import { createLog } from '../../../core/extension/log.ts';
import { DEFAULT_LIMITS } from '../../../core/limits.ts';
import { until } from '../../support/until.ts';

const QUIET = createLog('silent', () => {});

/** A conversation with a program that runs one line of JavaScript. */
function talkTo(line: string): JsonRpcConnection {
  const backend = {
    name: 'far',
    transport: 'stdio',
    command: { file: process.execPath, args: ['-e', line] },
  } as const;
  const about = {
    backend: 'far',
    caller: DISCOVERY_CALLER,
    clientInfo: {},
    limits: DEFAULT_LIMITS,
    log: QUIET,
    events: { listChanged() {}, updated() {}, logged() {}, notified() {}, unclear() {}, lost() {} },
    now: Date.now,
  };
  const wired = { backend, limits: DEFAULT_LIMITS, log: QUIET, tally: { processes: 0 } };
  const talk = new JsonRpcConnection(about, (sink) => new StdioWire(wired, sink));
  onTestFinished(() => talk.close());
  return talk;
}

function ask(talk: JsonRpcConnection): Promise<unknown> {
  const times = { timeoutMs: 10_000, totalMs: 10_000 };
  const who = { caller: DISCOVERY_CALLER, purpose: 'discovery', capabilities: {} } as const;
  return talk.request({ method: 'ping', params: [], ...who, ...times }).catch((cause: unknown) => cause);
}

describe('an ended JSON-RPC connection', () => {
  it('fails later requests with the cause of its end, and they are safe to repeat', async () => {
    const talk = talkTo('process.exit(3)');
    await until(() => !talk.alive);
    const cause = await ask(talk);
    expect(cause).toMatchObject({ code: 'BACKEND_UNREACHABLE', category: 'closed', notRun: true, linkLost: true });
    expect(cause).toMatchObject({ message: expect.stringMatching(/^backend "far" has its session closed: it .*3/) });
    expect(explainCause(cause)).toMatch(/session closed.* <- backend "far" /);
  });

  it('reports only that it is closed when the gateway closed it', async () => {
    const talk = talkTo('process.stdin.resume()');
    await talk.close();
    expect(await ask(talk)).toMatchObject({ message: 'backend "far" has its session closed' });
  });
});
