import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../plugins/skills/limits.ts';
import { unpackLayer } from '../../../plugins/skills/oci/unpack-layer.ts';
import { skillText } from '../../support/skill-folder.ts';
import { layerBytes, paxEntry, type TarEntry, tarBytes } from '../../support/tar-bytes.ts';

const signal = AbortSignal.timeout(120_000);
const SKILL: TarEntry = { name: 'SKILL.md', content: skillText('code-review') };

async function refusalOf(entries: readonly TarEntry[]): Promise<string> {
  const read = await unpackLayer(layerBytes([SKILL, ...entries]), signal);
  return 'refused' in read ? read.refused : `read ${read.files.map(({ path }) => path).join(', ')}`;
}

it('a layer with plain files and folders is read; hidden files are left out, and no file can be run', async () => {
  const read = await unpackLayer(
    layerBytes([
      { name: './', type: '5' },
      { ...SKILL, name: './SKILL.md' },
      { name: 'scripts/', type: '5', mode: 0o777 },
      { name: 'scripts/run.sh', content: 'x', mode: 0o4777 },
      { name: '.env', content: 'A=1' },
      { name: 'a/.cache/b', content: 'b' },
      { name: 'empty', content: '' },
    ]),
    signal,
  );
  const files = 'files' in read ? read.files : [];
  expect(files.map(({ path, size, mode }) => [path, size, mode.toString(8)])).toEqual([
    ['SKILL.md', skillText('code-review').length, '644'],
    ['scripts/run.sh', 1, '644'],
    ['empty', 0, '644'],
  ]);
});

describe('an archive is refused', () => {
  it.each<[string, readonly TarEntry[], RegExp]>([
    ['with a symbolic link', [{ name: 'a', type: '2', link: '/etc/passwd' }], /"a", which is a symbolic link/],
    ['with a hard link', [{ name: 'a', type: '1', link: 'SKILL.md' }], /"a", which is a hard link/],
    ['with a hidden link', [{ name: '.a', type: '2', link: '/etc' }], /"\.a", which is a symbolic link/],
    ['with a character device', [{ name: 'a', type: '3' }], /a device/],
    ['with a block device', [{ name: 'a', type: '4' }], /a device/],
    ['with a named pipe', [{ name: 'a', type: '6' }], /a named pipe/],
    ['with a contiguous file', [{ name: 'a', type: '7' }], /of an unknown kind/],
    ['with a sparse file of GNU', [{ name: 'a', type: 'S' }], /of an unknown kind/],
    ['with a volume label', [{ name: 'a', type: 'V' }], /of an unknown kind/],
    ['with a file that has the target of a link', [{ name: 'a', link: '/etc/passwd' }], /is a link/],
    ['with an absolute path', [{ name: '/etc/cron.d/a', content: 'x' }], /is absolute/],
    ['with a path of a drive', [{ name: 'C:/a', content: 'x' }], /is absolute/],
    ['with a path of a share', [{ name: '\\\\host\\a', content: 'x' }], /is absolute/],
    ['with ..', [{ name: 'a/../../b', content: 'x' }], /leads out of the skill/],
    ['with .. at the start', [{ name: '../b', content: 'x' }], /leads out of the skill/],
    ['with .. as a folder', [{ name: '../', type: '5' }], /leads out of the skill/],
    ['with .. after a leading dot', [{ name: './../b', content: 'x' }], /leads out of the skill/],
    ['with a backslash', [{ name: '..\\b', content: 'x' }], /not allowed in names/],
    ['with an empty part', [{ name: 'a//b', content: 'x' }], /empty part/],
    ['with a dot as a part', [{ name: 'a/./b', content: 'x' }], /empty part/],
    ['with a line break in a name', [{ name: 'a\nb', content: 'x' }], /not allowed in names/],
    ['with an escape in a name', [{ name: 'a\u001b[2Jb', content: 'x' }], /not allowed in names/],
    ['with text that runs from right to left', [{ name: 'a\u202etxt.exe', content: 'x' }], /not allowed in names/],
    ['with bytes that are no text', [{ name: Buffer.from([0x61, 0xff, 0xfe]), content: 'x' }], /not allowed in names/],
    ['with a stream of Windows', [{ name: 'a:b', content: 'x' }], /not allowed in names|is absolute/],
    ['with a device of Windows', [{ name: 'docs/NUL.txt', content: 'x' }], /reserved on Windows/],
    ['with a dot at the end of a name', [{ name: 'a./b', content: 'x' }], /ends with a dot or space/],
    ['with a git folder', [{ name: '.git/hooks/post-checkout', content: 'x' }], /inside a git folder/],
    ['with a git folder by its short name', [{ name: 'GIT~1/config', content: 'x' }], /inside a git folder/],
    [
      'with a file twice',
      [
        { name: 'a', content: 'x' },
        { name: 'a', content: 'y' },
      ],
      /"a" is there twice/,
    ],
    ['with SKILL.md twice', [SKILL], /"SKILL.md" is there twice/],
    ['with names that differ in case', [{ name: 'Read' }, { name: 'rEAD' }], /differ only in case/],
    ['with folders that differ in case', [{ name: 'A/x' }, { name: 'a/y' }], /differ only in case/],
    ['with names that differ in Unicode form', [{ name: 'caf\u00e9' }, { name: 'cafe\u0301' }], /Unicode form/],
    ['with a file that is also a folder', [{ name: 'a' }, { name: 'a/b' }], /is a file and a folder/],
    ['with a folder that is also a file', [{ name: 'a/b' }, { name: 'a' }], /is a file and a folder/],
    ['with an empty folder that is also a file', [{ name: 'a/', type: '5' }, { name: 'a' }], /is a file and a folder/],
    ['with a folder that has contents', [{ name: 'a/', type: '5', content: tarBytes([{ name: 'b' }]) }], /wrong size/],
    ['with a pax header that renames to ..', [paxEntry({ path: '../../a' }), { name: 'b' }], /leads out of the skill/],
    [
      'with a pax header that makes a link',
      [paxEntry({ linkpath: '/etc' }), { name: 'b' }],
      /is a (sparse file or )?link/,
    ],
    ['with a pax header of a sparse file', [paxEntry({ 'GNU.sparse.major': '1' }), { name: 'b' }], /sparse file/],
    ['with a pax header that gives a size below zero', [paxEntry({ size: '-1' }), { name: 'b' }], /not a complete tar/],
    [
      'with a pax header that gives a huge size',
      [paxEntry({ size: '99999999999' }), { name: 'b' }],
      /larger than 100 MB/,
    ],
    ['with a pax header that is no number', [paxEntry({ size: 'abc' }), { name: 'b' }], /not a complete tar/],
    [
      'with a long name of GNU that leads out',
      [{ name: 'n', type: 'L', content: '../a\0' }, { name: 'b' }],
      /leads out/,
    ],
    [
      'with a size that is larger than the archive',
      [{ name: 'a', content: 'x', size: 5000 }],
      /not a complete tar|ends inside/,
    ],
    ['with a size above the limit of a file', [{ name: 'a', size: LIMITS.fileBytes + 1 }], /larger than 100 MB/],
    ['with a wrong checksum', [{ name: 'a', checksum: 1 }], /not a complete tar/],
    ['with a path that is too long', [paxEntry({ path: `${'a/'.repeat(600)}b` }), { name: 'b' }], /longer than 1024/],
    ['with too many folders in a path', [{ name: `${'a/'.repeat(40)}b` }], /more than 32 folders/],
    ['with a name that is too long', [paxEntry({ path: 'n'.repeat(300) }), { name: 'b' }], /more than 255 bytes/],
  ])('%s', async (_, entries, expected) => {
    expect(await refusalOf(entries)).toMatch(expected);
  });

  it('with more than 1000 files', async () => {
    const files = Array.from({ length: LIMITS.files }, (_, index): TarEntry => ({ name: `f${index}` }));
    expect(await refusalOf(files)).toMatch(/more than 1000 files/);
    expect(await refusalOf(files.slice(1))).toMatch(/^read SKILL.md, f1, /);
  });

  it('with more than 10000 entries, though they are hidden', async () => {
    const hidden = Array.from({ length: LIMITS.entries }, (_, index): TarEntry => ({ name: `.f${index}` }));
    expect(await refusalOf(hidden)).toMatch(/more than 10000 entries/);
  });

  it('with a bomb: many zeros in one file, and in many', async () => {
    const zeros = Buffer.alloc(50 * 1024 * 1024);
    expect(await refusalOf([{ name: 'zeros', content: zeros }])).toMatch(/more than 200 times its size/);
  });

  it('when it is cut anywhere, no gzip, or larger than the limit of a layer', async () => {
    const whole = tarBytes([SKILL, { name: 'a', content: 'x'.repeat(1500) }], { hasEnd: false });
    for (let cut = 1; cut < whole.length; cut += 97) {
      const read = await unpackLayer(gzipSync(whole.subarray(0, cut)), signal);
      // a cut between two entries is an archive with fewer entries
      if (cut !== 1024)
        expect(read, `cut at ${cut}`).toMatchObject({ refused: expect.stringMatching(/complete|inside/) });
    }
    const layer = layerBytes([SKILL]);
    expect(await unpackLayer(layer.subarray(0, layer.length - 9), signal)).toHaveProperty('refused');
    expect(await unpackLayer(Buffer.from('no gzip'), signal)).toHaveProperty('refused');
    expect(await unpackLayer(Buffer.alloc(0), signal)).toHaveProperty('refused');
    expect(await unpackLayer(Buffer.alloc(LIMITS.layerBytes + 1), signal)).toEqual({
      refused: 'the layer is larger than 50 MB',
    });
  });
});

it('reading a layer ends with its signal', async () => {
  await expect(unpackLayer(layerBytes([SKILL]), AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});
