import { createLog, DEFAULT_LIMITS, explainCause } from '@toolmgr/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DISCOVERY_CALLER } from '../../../core/backend/sessions/backend-session.ts';
import { JsonRpcConnection } from '../../../core/backend/sessions/json-rpc-connection.ts';
import { StdioTransport } from '../../../core/backend/transports/stdio.ts';
import { ByteBudget } from '../../../core/mcp/byte-budget.ts';
import { until } from '../../support/until.ts';

const QUIET = createLog('silent', () => {});

/** A conversation with a program that runs one line of JavaScript. */
function connectTo(line: string): JsonRpcConnection {
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
    events: { listChanged() {}, updated() {}, logged() {}, notified() {}, ambiguousMessage() {}, lost() {} },
    now: Date.now,
  };
  const bytes = new ByteBudget(DEFAULT_LIMITS);
  const wired = {
    backend,
    limits: DEFAULT_LIMITS,
    bytes,
    log: QUIET,
    environment: process.env,
    processCount: { processes: 0 },
  };
  const connection = new JsonRpcConnection(about, (sink) => new StdioTransport(wired, sink));
  onTestFinished(() => connection.close());
  return connection;
}

function ask(connection: JsonRpcConnection): Promise<unknown> {
  const times = { timeoutMs: 10_000, totalMs: 10_000 };
  const who = { caller: DISCOVERY_CALLER, purpose: 'discovery', capabilities: {} } as const;
  return connection.request({ method: 'ping', params: [], ...who, ...times }).catch((cause: unknown) => cause);
}

describe('an ended JSON-RPC connection', () => {
  it('fails later requests with the cause of its end, and they are safe to repeat', async () => {
    const connection = connectTo('process.exit(3)');
    await until(() => !connection.alive);
    const cause = await ask(connection);
    expect(cause).toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      category: 'closed',
      notRun: true,
      connectionLost: true,
    });
    expect(cause).toMatchObject({ message: expect.stringMatching(/^backend "far" has its session closed: it .*3/) });
    expect(explainCause(cause)).toMatch(/session closed.* <- backend "far" /);
  });

  it('reports only that it is closed when the gateway closed it', async () => {
    const connection = connectTo('process.stdin.resume()');
    await connection.close();
    expect(await ask(connection)).toMatchObject({ message: 'backend "far" has its session closed' });
  });
});
