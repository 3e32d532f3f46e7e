import { chmod, readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import getPort from 'get-port';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContainerEngine, engineCall, startEngine } from '../support/container-engine.ts';
import { PRODUCT_IMAGE, productImage, productImageMissing } from '../support/product-image.ts';
import { recordingServer } from '../support/recording-server.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { writeVmcpFile } from '../support/vmcp-file.ts';

const missing = productImageMissing();
const LONG = 1_200_000;
const MAX_BYTES = 200_000_000;

describe.skipIf(missing)(`The image${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let engine: ContainerEngine;
  const folder = temporaryFolderOfFile('image');
  beforeAll(async () => {
    const archive = await productImage();
    engine = await startEngine('docker');
    const load = await engineCall(engine.socket, 'POST', '/v1.41/images/load', await readFile(archive));
    expect(load.text).toContain(PRODUCT_IMAGE);
  }, LONG);
  afterAll(() => engine?.[Symbol.asyncDispose](), LONG);

  const api = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const { status, text } = await engineCall(engine.socket, method, `/v1.41${path}`, body);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const start = async (
    args: readonly string[],
    more: { readonly Env?: readonly string[]; readonly Binds?: readonly string[] } = {},
  ) => {
    const HostConfig = {
      ...{ NetworkMode: 'host', ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'] },
      Binds: more.Binds ?? [],
    };
    const Healthcheck = { Interval: 1_000_000_000 }; // nanoseconds; the command is that of the image
    const body = { Image: PRODUCT_IMAGE, Cmd: args, Env: more.Env ?? [], HostConfig, Healthcheck };
    const { Id } = await api<{ Id: string }>('POST', '/containers/create', body);
    await api('POST', `/containers/${Id}/start`);
    return Id;
  };
  const outputOf = async (args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> => {
    const id = await start(args);
    const { StatusCode } = await api<{ StatusCode: number }>('POST', `/containers/${id}/wait`);
    const { text } = await engineCall(engine.socket, 'GET', `/v1.41/containers/${id}/logs?stdout=1&stderr=1`);
    return { code: StatusCode, out: text };
  };

  it('is small, has no shell, and starts the command line without rights', { timeout: LONG }, async () => {
    const { Size, Config } = await api<{ Size: number; Config: object }>('GET', `/images/${PRODUCT_IMAGE}/json`);
    expect(Size).toBeLessThan(MAX_BYTES);
    expect(Config).toMatchObject({
      ...{ User: '65532:65532', Entrypoint: ['/usr/bin/toolmgr'], ExposedPorts: { '4483/tcp': {} } },
      Healthcheck: { Test: ['CMD', '/usr/bin/node', '/app/health.mjs'] },
      Labels: {
        ...{ 'org.opencontainers.image.title': 'toolmgr', 'org.opencontainers.image.version': '9.9.9' },
        ...{ 'org.opencontainers.image.licenses': 'Apache-2.0' },
      },
    });
    expect(await outputOf(['version'])).toMatchObject({ code: 0, out: expect.stringContaining('0.') });
    const help = await outputOf(['operator', '--help']);
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('WATCH_NAMESPACE') });
    const shell = { Image: PRODUCT_IMAGE, Entrypoint: ['/bin/sh'], Cmd: [] };
    const { Id } = await api<{ Id: string }>('POST', '/containers/create', shell);
    await expect(api('POST', `/containers/${Id}/start`)).rejects.toThrow(/no such file/);
  });

  it('serves a vmcp file with a read-only root and no capability, is healthy, and ends at SIGTERM', {
    timeout: LONG,
  }, async () => {
    await using backend = await recordingServer();
    await chmod(folder, 0o755);
    const file = await writeVmcpFile(folder, { one: backend.url });
    await chmod(file, 0o644);
    const port = await getPort();
    const id = await start(['vmcp', 'serve', '--config', '/config/vmcp.yaml', '--port', String(port)], {
      Binds: [`${folder}:/config:ro`],
      Env: [`TOOLMGR_HEALTH_URL=http://127.0.0.1:${port}/health`],
    });
    const url = `http://127.0.0.1:${port}`;
    const isReady = (): Promise<boolean> =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isReady, 60_000).catch(async (cause) => {
      const { text } = await engineCall(engine.socket, 'GET', `/v1.41/containers/${id}/logs?stdout=1&stderr=1`);
      throw new Error(text, { cause });
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    expect(JSON.stringify(await client.callTool({ name: 'one_echo', arguments: { message: 'hello' } }))).toContain(
      'echo: hello',
    );
    await client.close();
    const health = (): Promise<{ State: { Health: { Status: string } } }> => api('GET', `/containers/${id}/json`);
    await until(async () => (await health()).State.Health.Status === 'healthy', 60_000);
    await api('POST', `/containers/${id}/stop?t=20`);
    const { State } = await api<{ State: { ExitCode: number } }>('GET', `/containers/${id}/json`);
    expect(State.ExitCode).toBe(0);
  });
});
