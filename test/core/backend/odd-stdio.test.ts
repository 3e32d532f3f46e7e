import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { absentPackage } from '../../../core/backend/transports/package-runner.ts';
import { processes } from '../../support/processes.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { callOf, fixture, managerWith, send, stdioBackend, testManager, testOwner, textOf } from './support.ts';

const SCRIPT = fixture('odd-server.ts');

/** An odd server and the file in which it notes what happens to it. */
function odd(oddity = 'none') {
  const folder = temporaryFolder('backend-odd');
  const ledger = join(folder, 'ledger');
  const notes = () => readFileSync(ledger, 'utf8').trim().split('\n');
  return { backend: stdioBackend('odd', SCRIPT, [oddity, ledger]), notes };
}

const OWNER = testOwner('session:odd').owner;

function call(original: string, rest = {}) {
  return { backend: 'odd', original, owner: OWNER, ...rest };
}

describe('probing a stdio backend', () => {
  proves(['choice.probe.method-not-found', 'ask.backend.probed'], 'asks once in place and remembers', async () => {
    const { backend, notes } = odd();
    const { manager } = await managerWith([backend]);
    expect(notes()).toEqual(['start', 'probe', 'initialize']);
    await send(manager, call('pid'));
    expect(notes().slice(3, 5)).toEqual(['start', 'initialize']);
    expect(manager.eraOf('odd')).toBe('2025-11-25');
  });

  proves(
    'choice.probe.exit',
    'starts a server again that exits on the probe, and does not probe it twice',
    async () => {
      const { backend, notes } = odd('exit-probe');
      const { manager } = await managerWith([backend]);
      expect(manager.states()[0]?.status).toBe('ready');
      await send(manager, call('pid'));
      expect(notes().filter((line) => line === 'probe')).toHaveLength(1);
    },
  );

  proves('choice.probe.silence', 'initializes a server that stays silent on the probe', async () => {
    const { backend, notes } = odd('silent-probe');
    const { manager } = await managerWith([backend], { limits: { helloMs: 300 } });
    expect(manager.states()[0]?.status).toBe('ready');
    expect(notes()).toEqual(['start', 'probe', 'initialize']);
  });

  it('fails for a server that never responds, and leaves no process', async () => {
    const { backend } = odd('silent');
    const { manager } = await managerWith([backend], { limits: { helloMs: 150, firstStartMs: 300 } });
    expect(manager.states()[0]).toMatchObject({ status: 'unavailable', cause: { category: 'timeout' } });
    await manager.stop();
    expect(manager.counts()).toEqual({ links: 0, processes: 0, callsInFlight: 0 });
  });

  it('names a program that does not exist', async () => {
    const backend = { name: 'odd', transport: 'stdio', command: { file: '/no/such/program', args: [] } } as const;
    const { manager } = await managerWith([backend]);
    expect(manager.states()[0]).toMatchObject({ status: 'unavailable', cause: { category: 'spawn' } });
    await expect(send(manager, call('pid'))).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });
});

describe('a package that does not exist', () => {
  proves('choice.first-start.absent', 'is started once for each try, and tried again with long pauses', async () => {
    const folder = temporaryFolder('absent-npx');
    const file = join(folder, 'npx');
    const said = 'npm error code E404\nnpm error 404 Not Found - GET https://registry.example/absent';
    writeFileSync(file, `#!/bin/sh\necho start >> '${folder}/starts'\necho '${said}' >&2\nexit 1\n`, { mode: 0o755 });
    const backend = { name: 'odd', transport: 'stdio', command: { file, args: ['-y', 'absent@1'] } } as const;
    const { manager } = await managerWith([backend]);
    expect(manager.states()[0]?.cause).toEqual({
      category: 'absent',
      message: 'backend "odd" could not be started: the registry of npx has no package absent',
    });
    for (let n = 0; n < 3; n++) {
      const probed = manager.probe('odd', 1_000, AbortSignal.timeout(5_000));
      await expect(probed).rejects.toMatchObject({ category: 'absent' });
    }
    expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('start\n');
    await manager.restart('odd'); // at once
    expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('start\nstart\n');
  });
});

proves(
  'ask.start.absent-package',
  'a package or a version that a registry does not have is named, for each runner',
  () => {
    const cases: readonly (readonly [string, string, string | undefined])[] = [
      [
        'npx -y @a/b@1',
        "npm error code E404\nnpm error 404  The requested resource '@a/b@1' could not",
        'npx has no package @a/b',
      ],
      ['npx -y a', "npm error code E404\nnpm error 404  'dep@^1' is not in this registry.", 'npx has no package dep'],
      ['npx -y a@9', 'npm error code ETARGET\nnpm error notarget', 'npx has no such version of a'],
      ['npx -y a', 'npm error code EACCES', undefined],
      ['uvx a', '╰─▶ Because a was not found in the package registry and', 'uvx has no package a'],
      ['uvx a==9', 'Because there is no version of a==9 and', 'uvx has no such version of a'],
      [
        'go run a.example/b@latest',
        'go: a.example/b@latest: module a.example/b: reading https://p/a.example/b/@v/list: 404 Not Found',
        'go has no package a.example/b',
      ],
      [
        'go run a.example/b@v9.9.9',
        'go: a.example/b@v9.9.9: a.example/b@v9.9.9: reading https://p/a.example/b/@v/v9.9.9.info: 404 Not Found',
        'go has no such version of a.example/b',
      ],
      ['node a.js', 'npm error code E404', undefined],
    ];
    for (const [line, stderr, sentence] of cases) {
      const [file = '', ...args] = line.split(' ');
      const expected = sentence === undefined ? undefined : `the registry of ${sentence}`;
      expect([line, absentPackage({ file, args }, stderr)]).toEqual([line, expected]);
    }
  },
);

describe('a stdio backend that misbehaves', () => {
  it('is read although it prints lines that are not messages, with one warning', async () => {
    const { manager, lines } = await managerWith([odd('print').backend]);
    expect(textOf(await send(manager, call('garbage')))).toBe('after garbage');
    expect(lines.some(({ message }) => message.includes('not MCP messages'))).toBe(true);
  });

  it('counts once when it answers twice', async () => {
    const { manager } = await managerWith([odd().backend]);
    expect(textOf(await send(manager, call('twice')))).toBe('first');
    expect(textOf(await send(manager, call('pid')))).toMatch(/^\d+$/);
  });

  it('may answer in any order', async () => {
    const { manager } = await managerWith([odd().backend]);
    await send(manager, call('pid'));
    const marks = ['a', 'b', 'c'].map((mark) =>
      send(manager, call('reversed', { params: `{"name":"x","arguments":{"mark":"${mark}"}}` })),
    );
    expect((await Promise.all(marks)).map(textOf)).toEqual(['a', 'b', 'c']);
  });

  it('may answer byte by byte', async () => {
    const { manager } = await managerWith([odd().backend]);
    expect(textOf(await send(manager, call('trickle')))).toBe('trickled ✓');
  });

  proves('choice.backend.bad-utf8', 'breaks only the message that is not UTF-8', async () => {
    const { manager } = await managerWith([odd().backend]);
    await expect(send(manager, call('badUtf8'))).rejects.toMatchObject({ code: 'BACKEND_PROTOCOL' });
    expect(textOf(await send(manager, call('pid')))).toMatch(/^\d+$/);
  });

  proves(
    ['choice.backend.line-limit', 'ask.limit.frame'],
    'fails a call whose line is over the limit and continues',
    async () => {
      const { manager } = await managerWith([odd().backend], { limits: { frameBytes: 100_000 } });
      await expect(send(manager, call('long'))).rejects.toMatchObject({ code: 'BACKEND_TOO_LARGE' });
      expect(textOf(await send(manager, call('pid')))).toMatch(/^\d+$/);
    },
  );

  proves(
    ['ask.fidelity.twenty-megabytes', 'choice.fidelity.large-result'],
    'gives 20 MB and big integers on byte for byte',
    async () => {
      const { manager } = await managerWith([odd().backend]);
      const { bytes } = await send(manager, call('big'));
      const text = 'y'.repeat(20 * 1024 * 1024);
      const expected = `{"content":[{"type":"text","text":"${text}"}],"exact":12345678901234567890123}`;
      expect(bytes.equals(Buffer.from(expected))).toBe(true);
    },
  );

  it('gets params that span lines as one line', async () => {
    const { manager } = await managerWith([odd().backend]);
    const params = '{\n  "name": "x",\r\n  "arguments": {\n}\n}';
    expect(textOf(await send(manager, call('pid', { params })))).toMatch(/^\d+$/);
  });
});

describe('time and cancellation over stdio', () => {
  proves(
    ['choice.backend.timeout', 'ask.legacy.cancel'],
    'cancels at the backend what takes longer than its workload may',
    async () => {
      const { backend, notes } = odd();
      const { manager } = await managerWith([backend], {
        timeouts: { defaultMs: 60_000, perWorkloadMs: { odd: 1_500 } },
      });
      await send(manager, call('pid'));
      await expect(send(manager, call('hang'))).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
      const id = notes().at(-1)?.split(' ')[1];
      await until(() => notes().at(-1) === `cancelled ${id}`);
      expect(manager.counts().callsInFlight).toBe(0);
    },
  );

  proves('choice.capability.cancellation', 'forwards the cancellation of the client', async () => {
    const { backend, notes } = odd();
    const { manager } = await managerWith([backend]);
    await send(manager, call('pid'));
    const giveUp = new AbortController();
    const gone = send(manager, call('hang', { signal: giveUp.signal }));
    await until(() => notes().at(-1)?.endsWith('hang') === true);
    giveUp.abort(new Error('changed my mind'));
    await expect(gone).rejects.toThrow('changed my mind');
    await until(() => notes().at(-1)?.startsWith('cancelled') === true);
  });
});

describe('a stdio backend that dies', () => {
  proves(
    ['choice.session.repeat-only-safe', 'ask.backend.no-unsafe-repeat'],
    'fails the call in progress and does not repeat it',
    async () => {
      const { backend, notes } = odd();
      const { manager } = await managerWith([backend]);
      await expect(send(manager, call('exit'))).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      expect(notes().filter((line) => line.endsWith(' exit'))).toHaveLength(1);
    },
  );

  proves('ask.backend.remade', 'is started again for the next call', async () => {
    const { manager } = await managerWith([odd().backend]);
    const before = textOf(await send(manager, call('pid')));
    process.kill(Number(before), 'SIGKILL');
    await until(() => manager.counts().processes === 1);
    const after = textOf(await send(manager, call('pid')));
    expect(after).not.toBe(before);
  });

  it('is found again when the process that lists dies', async () => {
    const { backend, notes } = odd();
    const { manager } = await managerWith([{ ...backend, sessions: 'shared' }]);
    const before = textOf(await send(manager, call('pid')));
    process.kill(Number(before), 'SIGKILL');
    await until(() => notes().filter((line) => line === 'initialize').length === 2);
    expect(textOf(await send(manager, call('pid')))).not.toBe(before);
    expect(manager.states()[0]?.status).toBe('ready');
  });

  it('that ends soon after every start is started ever more slowly', async () => {
    const { backend, notes } = odd('brief');
    await managerWith([backend]);
    const starts = () => notes().filter((line) => line === 'start').length;
    await until(() => starts() >= 3);
    const startedMs = Date.now();
    await until(() => starts() >= 4);
    expect(Date.now() - startedMs).toBeGreaterThan(600); // the poll notices the third start a little late
  });

  it('leaves no child process, when it ends and when the gateway ends it', async () => {
    const { manager } = await managerWith([odd().backend]);
    const helper = Number(textOf(await send(manager, call('helper'))));
    const alive = (pid: number) => processes().some((row) => row.pid === pid);
    expect(alive(helper)).toBe(true);
    await expect(send(manager, call('exit'))).rejects.toThrow();
    await until(() => !alive(helper));
    const second = Number(textOf(await send(manager, call('helper'))));
    await manager.stop();
    await until(() => !alive(second));
    expect(manager.counts().processes).toBe(0);
  });

  it('is killed when it ignores the end of its input and SIGTERM', async () => {
    const { manager } = await managerWith([odd('deaf').backend]);
    expect(manager.counts().processes).toBe(1);
    await manager.stop();
    expect(manager.counts().processes).toBe(0);
  });

  it('logs the end of its stderr without the values of its environment', async () => {
    const { backend } = odd();
    const command = { file: process.execPath, args: backend.command?.args ?? [], env: { PASSWORD: 'open sesame' } };
    const { manager, lines } = await managerWith([{ ...backend, command }]);
    await send(manager, call('shout'));
    await expect(send(manager, call('exit'))).rejects.toThrow();
    const line = lines.find(({ message }) => message === 'backend process ended');
    expect(line?.fields?.stderr).toMatch(/the end, password \[secret\]$/);
    expect(String(line?.fields?.stderr).length).toBeLessThanOrEqual(2_000);
  });
});

describe('bounds of stdio backends', () => {
  it('passes a minimal environment and what the description adds', async () => {
    process.env.GATEWAY_TEST_SECRET = 'not for servers';
    onTestFinished(() => void delete process.env.GATEWAY_TEST_SECRET);
    const { backend } = odd();
    const command = { file: process.execPath, args: backend.command?.args ?? [], env: { ADDED: 'yes' } };
    const { manager } = await managerWith([{ ...backend, command }]);
    const environment = JSON.parse(textOf(await send(manager, call('environment'))));
    expect(environment).toMatchObject({ ADDED: 'yes', PATH: process.env.PATH });
    expect(environment).not.toHaveProperty('GATEWAY_TEST_SECRET');
  });

  proves('choice.backend.early-calls', 'opens one session for first calls that come together', async () => {
    const { backend, notes } = odd();
    const { manager } = await managerWith([backend]);
    const pids = await Promise.all([1, 2, 3, 4].map(() => send(manager, call('pid'))));
    expect(new Set(pids.map(textOf)).size).toBe(1);
    expect(notes().filter((line) => line === 'start')).toHaveLength(2);
  });

  it('closes the idlest session for a new one, and refuses when all are at work', async () => {
    const { manager } = await managerWith([odd().backend], { limits: { processesPerBackend: 2, processChurnMs: 0 } });
    const as = (key: string) => ({ owner: testOwner(key).owner });
    const first = textOf(await send(manager, call('pid', as('a'))));
    await send(manager, call('pid', as('b')));
    await send(manager, call('pid', as('c')));
    expect(textOf(await send(manager, call('pid', as('a'))))).not.toBe(first);
    const stop = new AbortController();
    const busy = ['a', 'c'].map((key) => send(manager, call('hang', { ...as(key), signal: stop.signal })));
    await until(() => manager.counts().callsInFlight === 2);
    await expect(send(manager, call('pid', as('d')))).rejects.toMatchObject({ code: 'BACKEND_BUSY' });
    stop.abort();
    await Promise.allSettled(busy);
  });

  proves(
    ['choice.backend.concurrency', 'ask.limit.in-flight'],
    'queues calls and refuses those beyond the queue',
    async () => {
      const limits = { inFlightPerBackend: 1, queuePerBackend: 1 };
      const { manager } = await managerWith([odd().backend], { limits });
      const stop = new AbortController();
      const first = send(manager, call('hang', { signal: stop.signal }));
      const second = send(manager, call('pid'));
      await expect(send(manager, call('pid'))).rejects.toMatchObject({ code: 'BACKEND_BUSY' });
      stop.abort(new Error('enough'));
      await expect(first).rejects.toThrow('enough');
      expect(textOf(await second)).toMatch(/^\d+$/);
    },
  );

  it('closes sessions without calls', async () => {
    const { manager } = await managerWith([odd().backend], { limits: { linkIdleMs: 1000 } });
    await send(manager, call('pid'));
    expect(manager.counts().links).toBe(2);
    await until(() => manager.counts().processes === 1);
  });

  it('fails a call to a backend that is not configured', async () => {
    const { manager } = testManager();
    await expect(manager.send(callOf(call('pid')).call)).rejects.toMatchObject({ code: 'BACKEND_UNKNOWN' });
  });
});
