import { symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readMounts } from '@toolmgr/plugins/kit/workloads/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../../../../support/temporary-folder.ts';

const cwd = temporaryFolderOfFile('mounts');
beforeAll(async () => {
  await mkdir(join(cwd, 'data'));
  await mkdir(join(cwd, 'other'));
});

const NONE = { read: [], write: [] };
const volumes = (...texts: string[]) => readMounts(texts, NONE, cwd);

describe('mounts', () => {
  it('reads a volume, and a relative path from the working directory', () => {
    expect(volumes('data:/in', `${cwd}/other:/out:ro`)).toEqual({
      mounts: [
        { source: join(cwd, 'data'), target: '/in', readOnly: false },
        { source: join(cwd, 'other'), target: '/out', readOnly: true },
      ],
      warnings: [],
    });
  });

  it('reads a folder of one letter, which is no Windows drive', async () => {
    await mkdir(join(cwd, 'w'));
    const mount = { source: join(cwd, 'w'), target: '/w' };
    expect(volumes('w:/w')).toMatchObject({ mounts: [{ ...mount, readOnly: false }] });
    expect(volumes('w:/w:ro')).toMatchObject({ mounts: [{ ...mount, readOnly: true }] });
    expect(volumes('C:\\w:/w')).toEqual({ reason: expect.stringContaining('C:\\w') });
  });

  it('keeps the first mount of a container path, and warns', () => {
    const read = volumes('data:/in', 'other:/in/');
    expect(read).toMatchObject({
      mounts: [{ source: join(cwd, 'data') }],
      warnings: [expect.stringContaining('mounted twice')],
    });
  });

  it('writes a path that a profile names for both', () => {
    const both = { read: ['data'], write: ['data'] };
    expect(readMounts([], both, cwd)).toEqual({
      mounts: [{ source: join(cwd, 'data'), target: join(cwd, 'data'), readOnly: false }],
      warnings: [],
    });
  });

  it.each([
    ['data', /expected HOST:CONTAINER/],
    ['data:in', /must be absolute/],
    ['data:/', /root of the container/],
    ['data:/a/../..', /root of the container/],
    ['data:/in:rx', /expected ro/],
    ['data:/in:ro:z', /expected HOST:CONTAINER/],
    ['absent:/in', /does not exist on this machine/],
    ['data:/in$(id)', /must not contain/],
    ['da`ta:/in', /must not contain/],
    [':/in', /a path is empty/],
  ])('refuses %s', (text, reason) => {
    expect(volumes(text)).toEqual({ reason: expect.stringMatching(reason) });
  });

  it('refuses a named volume in a profile by name', () => {
    expect(readMounts([], { read: ['volume://data:/in'], write: [] }, cwd)).toEqual({
      reason: expect.stringContaining('named volumes are not supported'),
    });
  });

  it('warns about what gives a container this machine', () => {
    const warned = (source: string) => {
      const read = readMounts([`${source}:/in`], { read: [], write: [] }, '/', () => true);
      return 'warnings' in read ? read.warnings.join() : read.reason;
    };
    expect(warned('/')).toContain('every file of this machine');
    for (const path of [
      '/var/run/docker.sock',
      '/run',
      '/var/run',
      '/run/podman',
      '/home/ada/.docker/run/docker.sock',
    ]) {
      expect(warned(path), path).toContain('can control the container engine');
    }
    expect(warned('/srv/../run/docker.sock')).toContain('can control the container engine');
    expect(warned('/srv')).toBe('');
    symlinkSync('/', join(cwd, 'link'));
    expect(warned(join(cwd, 'link'))).toContain('every file of this machine');
  });

  it('refuses a folder whose path has a colon, also when it is relative', () => {
    const read = readMounts(['data:/in'], { read: [], write: [] }, '/srv/a:b', () => true);
    expect(read).toMatchObject({ reason: expect.stringContaining('contains a colon') });
  });
});
