import { beforeEach, describe, expect, it } from 'vitest';
import { newStored, PASSWORD } from '../../plugins/secrets/encrypted/stored.ts';
import { cli, startCli } from '../../support/cli.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('vmcp-secrets');
});

const outgoingAuth = {
  source: 'inline',
  default: {
    type: 'header_injection',
    headerInjection: { headerName: 'X-Api-Key', headerValueEnv: 'TEST_API_KEY' },
  },
};
const using = (file: string) => ({ outgoingAuth, plugins: [{ use: 'secrets/encrypted', with: { file } }] });

describe('a vmcp file with secrets/encrypted', () => {
  it('sends a secret of the encrypted file to a backend', async () => {
    await using stored = await newStored({ TEST_API_KEY: 'hunter2-of-the-file' });
    await using server = await recordingServer();
    const file = await writeVmcpFile(folder, { one: server.url }, using(stored.path));
    await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], {
      env: { TOOLMGR_SECRETS_PASSWORD: PASSWORD, TEST_API_KEY: 'of a variable' },
    });
    const url = `${(await serving.printed(/serves (http\S+)/))[1]}`;
    const called = await cli(['call', 'one_echo', 'message=hi', '--url', url]);
    expect(called).toMatchObject({ code: 0, out: 'echo: hi\n' });
    expect(server.calls[0]?.['x-api-key']).toBe('hunter2-of-the-file');
    expect(serving.out() + serving.err()).not.toContain('hunter2');
  });

  it('does not start without the password, also when a variable has the name', async () => {
    await using stored = await newStored({ TEST_API_KEY: 'hunter2-of-the-file' });
    const file = await writeVmcpFile(folder, { one: 'http://127.0.0.1:9/mcp' }, using(stored.path));
    const env = {
      TEST_API_KEY: 'of a variable',
      TOOLMGR_SECRETS_PASSWORD: undefined,
      DBUS_SESSION_BUS_ADDRESS: undefined,
    };
    expect(await cli(['vmcp', 'serve', '-c', file, '--port', '0'], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${stored.path} cannot be opened: there is no password`),
    });
  });
});
