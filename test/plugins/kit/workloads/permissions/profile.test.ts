import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { describe, expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';

const folder = temporaryFolderOfFile('profile');

async function fromFile(text: string) {
  const file = join(folder, 'profile.json');
  await writeFile(file, text);
  return readProfile(file);
}

describe('a permission profile', () => {
  it('is one of the two of the contract, by name', async () => {
    expect(await readProfile('none')).toMatchObject({ profile: { name: 'none', privileged: false } });
    expect(await readProfile('network')).toMatchObject({
      profile: { network: { outbound: { insecure_allow_all: true } } },
    });
    expect(await readProfile('__proto__')).toEqual({
      reason: expect.stringContaining('there is no permission profile'),
    });
  });

  it('is a JSON file with every member of the contract', async () => {
    const profile = {
      name: 'mine',
      read: ['/a'],
      write: ['/b:/c'],
      network: {
        mode: 'bridge',
        outbound: { insecure_allow_all: false, allow_host: ['API.example'], allow_port: [443] },
        inbound: { allow_host: ['localhost'] },
      },
      privileged: true,
    };
    expect(await fromFile(JSON.stringify(profile))).toEqual({
      profile: {
        ...profile,
        network: { ...profile.network, outbound: { ...profile.network.outbound, allow_host: ['api.example'] } },
      },
    });
  });

  it.each([
    ['{', /is not JSON/],
    ['root:x:secret', /is not JSON$/],
    ['{"networks":{}}', /Unrecognized key.*networks/],
    ['{"network":{"outbound":{"allow_port":[0]}}}', /network.outbound.allow_port.0/],
    ['{"network":{"outbound":{"allow_host":["a b"]}}}', /expected a host name/],
    ['{"read":["/a;rm"]}', /must not contain/],
    ['[]', /the profile: /],
  ])('is refused with its place: %s', async (text, reason) => {
    expect(await fromFile(text)).toEqual({ reason: expect.stringMatching(reason) });
  });
});
