import { generateKeyPairSync } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fakeServer } from '@toolmgr/core/testing';
import { createAuditChain, hashOfLine } from '@toolmgr/plugins/kit/audit-chain';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainedFile, writerOf } from '../../../plugins/audit/sinks/chained-file.ts';
import type { Sink } from '../../../plugins/audit/sinks/file.ts';
import { type Audited, audited } from '../../support/audited.ts';
import { cliSession } from '../../support/cli-session.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const cli = cliSession();
let folder: string;
let logFile: string;
let key: string;
let publicKey: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmgr-chain-'));
  [logFile, key, publicKey] = ['audit.log', 'audit.pem', 'audit.pub'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeKeys(key, publicKey);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function writeKeys(secret: string, open: string): Promise<void> {
  const pair = generateKeyPairSync('ed25519');
  await writeFile(secret, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(open, pair.publicKey.export({ type: 'spki', format: 'pem' }));
}

const gateway = (config: object = {}): Promise<Audited> =>
  audited({ far: fakeServer().tool('t') }, { config: { logFile, chain: { signingKeyRef: { file: key } }, ...config } });

/** Calls a tool `count` times and stops the gateway. */
async function record(count: number, config: object = {}): Promise<void> {
  await using served = await gateway(config);
  for (let call = 0; call < count; call++) await served.kit.gateway.perform({ name: 't' });
}

const linesNow = async (): Promise<string[]> => (await readFile(logFile, 'utf8')).split('\n').slice(0, -1);
const verified = async (...more: readonly string[]) => {
  const { code, out } = await cli(['audit', 'verify', logFile, '--json', ...more]);
  const report = JSON.parse(out);
  return { code, ...report, problems: report.problems.map(textOf) };
};
const textOf = ({ line, problem }: { readonly line: number; readonly problem: string }) => `${line}: ${problem}`;
const signed = () => verified('--key', publicKey);

describe('a chain of audit lines', () => {
  proves(
    'ask.audit.chain',
    'continues over restarts and rotated parts, and its checkpoints cover all lines',
    async () => {
      await record(3);
      expect(await signed()).toMatchObject({
        code: 0,
        valid: true,
        first: 0,
        checkpoints: 1,
        unsigned: 0,
        problems: [],
      });
      {
        await using served = await gateway();
        await rename(logFile, `${logFile}.1`);
        await until(async () => {
          await served.kit.gateway.perform({ name: 't' });
          return (await linesNow().catch(() => [])).length > 0;
        });
      }
      await record(2);
      expect(await verified('--rotated', '--key', publicKey)).toMatchObject({
        ...{ code: 0, first: 0, unsigned: 0, problems: [] },
      });
      // one part alone is not proven to be all
      const { err } = await cli(['audit', 'verify', logFile, '--key', publicKey]);
      expect(err).toMatch(/the lines before number \d+ are not in these files/);
      const first = await readFile(`${logFile}.1`);
      await rm(`${logFile}.1`);
      await writeFile(`${logFile}.0.gz`, gzipSync(first));
      await utimes(`${logFile}.0.gz`, 0, 0);
      expect(await verified('--rotated', '--key', publicKey)).toMatchObject({ code: 0, first: 0, problems: [] });
    },
  );

  it('is one chain when two gateways write to a file, as after a reload', async () => {
    await using before = await gateway();
    await before.kit.gateway.perform({ name: 't' });
    await using after = await gateway();
    for (let call = 0; call < 20; call++) {
      await Promise.all([before, after].map(({ kit }) => kit.gateway.perform({ name: 't' })));
    }
    await before[Symbol.asyncDispose]();
    await after.kit.gateway.perform({ name: 't' });
    await after[Symbol.asyncDispose]();
    expect(await signed()).toMatchObject({ code: 0, unsigned: 0, problems: [] });
    expect((await linesNow()).filter((line) => line.includes('mcp_tool_call'))).toHaveLength(42);
  });

  it('is continued after a line that was cut, which stands alone', async () => {
    await record(2);
    await appendFile(logFile, '{"time":"20');
    await record(1);
    const { problems, ...report } = await signed();
    expect(report).toMatchObject({ code: 1, unsigned: 0 });
    expect(problems).toEqual([expect.stringMatching(/^\d+: the line is no JSON: it was cut/)]);
  });

  it('begins after lines that were written without it', async () => {
    await record(2, { chain: undefined });
    const before = (await linesNow()).length;
    await record(2);
    expect(await signed()).toMatchObject({ code: 0, first: 0, problems: [] });
    const lines = await linesNow();
    await writeFile(logFile, lines.map((line, index) => `${index === before - 1 ? `${line} ` : line}\n`).join(''));
    expect(await signed()).toMatchObject({ code: 1, problems: [`${before + 1}: the line before it was changed`] });
  });

  it('is checked without a key only for what others did not write anew', async () => {
    await record(2);
    const { code, err } = await cli(['audit', 'verify', logFile]);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringMatching(/1 checkpoints were not verified/) });
    await record(1, { chain: {} });
    expect((await cli(['audit', 'verify', logFile, '--key', publicKey])).err).toMatch(
      /no checkpoint signs the last 1 lines/,
    );
  });
});

describe('someone who can write to the file', () => {
  const changed = (line: string): string => line.replace('"success"', '"denied"');
  const cases: readonly (readonly [string, (lines: string[]) => string[], RegExp])[] = [
    ['changes a line', (lines) => lines.map((line, at) => (at === 1 ? changed(line) : line)), /^3: the line before it/],
    ['removes a line', (lines) => lines.filter((_, at) => at !== 1), /^2: 1 lines before it are missing \(1 to 1\)/],
    ['moves a line', ([a = '', b = '', c = '', ...rest]) => [a, c, b, ...rest], /^2: 1 lines before it are missing/],
    [
      'repeats a line',
      ([a = '', b = '', ...rest]) => [a, b, b, ...rest],
      /^3: line 1 of the chain stands after line 1/,
    ],
    [
      'adds a line',
      ([a = '', ...rest]) => [a, '{"msg":"audit_event","type":"mcp_ping"}', ...rest],
      /^2: the line has no place in the chain/,
    ],
    ['writes the whole chain anew', rewritten, /the signature of the checkpoint does not fit the key/],
    ['writes the chain anew without checkpoints', (lines) => rewritten(lines.slice(0, -1)), /^$/],
  ];
  it.each(cases)('%s, which is noticed', async (_what, tamper, problem) => {
    await record(4);
    await writeFile(logFile, `${tamper(await linesNow()).join('\n')}\n`);
    const report = await signed();
    expect(report.code).toBe(1);
    expect(report.problems.find((each: string) => problem.test(each)) ?? '').toMatch(problem);
  });

  it('gives a key that verifies nothing, which is refused', async () => {
    await record(1);
    const { publicKey: other } = generateKeyPairSync('x25519');
    await writeFile(publicKey, other.export({ type: 'spki', format: 'pem' }));
    expect(await cli(['audit', 'verify', logFile, '--key', publicKey])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/expected the PEM of a public key: Ed25519, EC or RSA/),
    });
  });

  it('signs with a key of their own, which is noticed', async () => {
    await writeKeys(key, join(folder, 'other.pub'));
    await record(2);
    expect((await signed()).problems).toEqual([expect.stringMatching(/does not fit the key/)]);
  });

  /** The lines with another outcome and fitting hashes: what needs no key. */
  function rewritten(lines: readonly string[]): string[] {
    let previous = '';
    return lines.map((line) => {
      const made = changed(line).replace(/"previous":"[^"]*"/, `"previous":"${previous}"`);
      previous = hashOfLine(made);
      return made;
    });
  }
});

describe('two gateways that write to a file on a full disk', () => {
  it('lose no line when there is space again, and each line is written once', async () => {
    const written: Buffer[] = [];
    let isFull = true;
    const disk: Sink = {
      async write(bytes) {
        if (isFull) throw new Error('ENOSPC');
        written.push(Buffer.from(bytes));
        return bytes.length;
      },
      close: async () => {},
    };
    const file = chainedFile(disk, pluginCore(), (options, end = { next: 0, previous: '' }) =>
      createAuditChain(end, options.component, options.key),
    );
    file.use({ component: 'team', key: undefined });
    const [one, other] = [1, 2].map(() => writerOf(file, async () => {})) as [Sink, Sink];
    const write = (sink: Sink, name: string) => sink.write(Buffer.from(`{"name":"${name}"}\n`));
    await expect(write(one, 'a')).rejects.toThrow(/ENOSPC/);
    await expect(write(other, 'b')).rejects.toThrow(/ENOSPC/);
    await expect(write(one, 'a')).rejects.toThrow(/ENOSPC/);
    isFull = false;
    await write(other, 'b');
    await write(one, 'a');
    await write(one, 'c');
    const lines = Buffer.concat(written)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ name, chain }) => [name, chain.n])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
  });
});

describe('audit.chain.signingKeyRef', () => {
  it('is refused when it cannot sign, without its text', async () => {
    await writeFile(key, 'hunter2');
    await expect(gateway()).rejects.toThrow(/audit\.chain\.signingKeyRef: expected the PEM of a private key/);
    await expect(gateway()).rejects.not.toThrow(/hunter2/);
    const { publicKey: open } = generateKeyPairSync('ed25519');
    await writeFile(key, open.export({ type: 'spki', format: 'pem' }));
    await expect(gateway()).rejects.toThrow(/expected the PEM of a private key/);
  });
});

describe('audit.onFailure', () => {
  proves('ask.audit.on-failure', 'refuses calls with 503 while lines cannot be written', async () => {
    await using served = await gateway({ logFile: '/dev/full', chain: undefined, onFailure: 'refuse' });
    const call = () => served.kit.gateway.perform({ name: 't' });
    expect(await call()).toHaveProperty('result'); // its line was not written yet
    await until(async () => 'refusal' in (await call()));
    expect(await call()).toMatchObject({ refusal: { status: 503, reason: expect.stringMatching(/audit log/) } });
  });

  it('lets calls continue by default', async () => {
    await using served = await gateway({ logFile: '/dev/full', chain: undefined });
    await served.kit.gateway.perform({ name: 't' });
    await until(() => served.kit.logged.some((line) => line.includes('audit events cannot be written')));
    expect(await served.kit.gateway.perform({ name: 't' })).toHaveProperty('result');
  });
});

describe('audit query', () => {
  proves('ask.audit.query', 'prints the events that match all options, over rotated parts', async () => {
    await record(3);
    await rename(logFile, `${logFile}-20261127`);
    await record(2);
    const all = await cli(['audit', 'query', logFile, '--rotated', '--type', 'mcp_tool_call', '--name', 't', '--json']);
    const events = all.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(Array(5).fill('mcp_tool_call'));
    const [first] = events;
    const one = await cli(['audit', 'query', logFile, '--rotated', '--request', first.source.extra.request_id]);
    expect(one.out).toMatch(/^\S+Z {2}mcp_tool_call {2}success {2}anonymous {2}t\n$/);
    const none = [
      ['--outcome', 'denied'],
      ['--backend', 'other'],
      ['--user', 'ada'],
      ['--until', '2020-01-01'],
    ];
    for (const options of none) expect((await cli(['audit', 'query', logFile, ...options])).out).toBe('');
    const last = await cli(['audit', 'query', logFile, '--user', 'anonymous', '--since', '2020-01-01', '-n', '1']);
    expect(last.out.split('\n')).toHaveLength(2);
    expect(await cli(['audit', 'query', logFile, '--since', 'yesterday'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/expected a time such as/),
    });
  });
});
