import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { WORKSPACES } from '../../scripts/pack/pack-workspaces.ts';
import { waitingChangesets } from '../../scripts/release/changesets.ts';
import { checksumsOf, writeChecksums } from '../../scripts/release/checksums.ts';
import { PLATFORM_NAMES, readPlatforms } from '../../scripts/release/executable/platforms.ts';
import { gatewayUnits } from '../../scripts/release/gateway-units.ts';
import { outcomeTable, withoutSecrets } from '../../scripts/release/outcome.ts';
import { provenanceOf, signingOf, writeSignedProvenance } from '../../scripts/release/provenance.ts';
import { writePackageSbom } from '../../scripts/release/sbom.ts';
import { sourceState } from '../../scripts/release/source-state.ts';
import { readManifest, versionFaults } from '../../scripts/release/versions.ts';
import { startSigstore } from '../support/fake-sigstore.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMIT = 'a'.repeat(40);

it('a command that needs a rig names it and how to build it, without a stack', () => {
  const cache = temporaryFolder('no-rigs');
  const env = { ...process.env, XDG_CACHE_HOME: cache };
  const scripts = { 'site.ts': 'site', 'release/executable.ts': 'release', 'release/changesets.ts': 'release' };
  for (const [script, rig] of Object.entries(scripts)) {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', script)], { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: `the rig ${rig} is not built: npm run rigs ${rig}\n` });
  }
});

it('the packages have one version, and need exactly this version of each other', () => {
  expect(versionFaults(WORKSPACES.map(readManifest))).toEqual([]);
  const faults = versionFaults([
    { name: 'a', version: '1.0.0' },
    { name: 'b', version: '1.1.0', dependencies: { a: '1.0.0', other: '3' }, peerDependencies: { a: '^0.9.0' } },
  ]);
  expect(faults).toEqual(['b has version 1.1.0, a has 1.0.0', 'b needs a@^0.9.0, expected 1.0.0']);
});

it('changesets moves the three packages together, and every changeset names a package', () => {
  const config = JSON.parse(readFileSync(join(ROOT, '.changeset/config.json'), 'utf8')) as { fixed: string[][] };
  const names = WORKSPACES.map((workspace) => readManifest(workspace).name);
  expect(config.fixed).toEqual([names]);
  for (const file of waitingChangesets()) {
    const text = readFileSync(join(ROOT, '.changeset', file), 'utf8');
    expect(
      names.some((name) => text.split('---')[1]?.includes(name)),
      file,
    ).toBe(true);
  }
});

it('a dirty tree, a version with another tag and a waiting changeset are reasons not to publish', async () => {
  const folder = temporaryFolder('source');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'one');
  git('tag', 'v1.0.0');
  expect((await sourceState('1.0.0', [], folder)).faults).toEqual([]);
  git('commit', '-q', '--allow-empty', '-m', 'two');
  writeFileSync(join(folder, 'left.txt'), '');
  const { faults } = await sourceState('1.0.0', ['blue-cats.md'], folder);
  expect(faults).toEqual([
    '1 changed files are not committed, first left.txt',
    'the tag v1.0.0 is at another commit: npm run versions makes a new version',
    '1 changesets are not in a version: npm run versions',
  ]);
  expect((await sourceState('1.0.1', [], folder)).faults).toHaveLength(1);
});

it('the bill of materials of the core has its dependencies and none of development', async () => {
  const folder = temporaryFolder('sbom');
  const file = join(folder, 'core.cdx.json');
  await writePackageSbom('core', file);
  const bom = JSON.parse(readFileSync(file, 'utf8')) as {
    metadata: { component: object };
    components: { name: string; purl: string }[];
  };
  expect(bom.metadata.component).toMatchObject({
    name: '@toolmgr/core',
    purl: expect.stringMatching(/^pkg:npm\/%40/),
  });
  const names = bom.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['zod', 'tapable']));
  expect(names).not.toContain('vitest');
});

it('sha256sum accepts the checksums, and the provenance names the same files', async () => {
  const folder = temporaryFolder('sums');
  writeFileSync(join(folder, 'b.tgz'), 'b');
  writeFileSync(join(folder, 'a.tgz'), 'a');
  const sums = await checksumsOf(folder);
  writeChecksums(folder, sums);
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
  const dates = { startedOn: new Date(0), finishedOn: new Date(1) };
  const facts = { repository: 'https://example.com/r', commit: COMMIT, version: '1.0.0', node: '24.0.0', ...dates };
  expect(provenanceOf(sums, { ...facts, env: {} })).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'a.tgz', digest: { sha256: sums[0]?.sha256 } }, { name: 'b.tgz' }],
    predicate: { runDetails: { builder: { id: 'urn:toolmgr:build:local' } } },
  });
  const env = {
    GITHUB_ACTIONS: 'true',
    GITHUB_SERVER_URL: 'https://g',
    GITHUB_REPOSITORY: 'o/r',
    GITHUB_RUN_ID: '7',
  };
  expect(provenanceOf(sums, { ...facts, env })).toMatchObject({
    predicate: {
      runDetails: { builder: { id: 'https://g/o/r' }, metadata: { invocationId: expect.stringMatching(/7/) } },
    },
  });
});

it('the provenance is signed where the build has an identity', async () => {
  expect(await signingOf({})).toBeUndefined();
  expect(await (await signingOf({ SIGSTORE_ID_TOKEN: 'x' }))?.token()).toBe('x');
  await using sigstore = await startSigstore();
  const folder = temporaryFolder('signed');
  const file = join(folder, 'bundle.json');
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'none' })}.${part({ sub: 'build', iss: 'https://issuer.example.com' })}.x`;
  const signing = { fulcioUrl: sigstore.url, rekorUrl: sigstore.url, token: async () => token };
  await writeSignedProvenance({ _type: 'https://in-toto.io/Statement/v1' }, file, signing);
  const bundle = JSON.parse(readFileSync(file, 'utf8')) as { dsseEnvelope: { payload: string; payloadType: string } };
  expect(bundle.dsseEnvelope.payloadType).toBe('application/vnd.in-toto+json');
  expect(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString()).toContain('in-toto.io/Statement/v1');
  expect(JSON.stringify(bundle)).not.toContain(token);
});

it('the table has one line per thing, and no secret of the environment', () => {
  const table = outcomeTable([
    { name: 'a.tgz', state: 'made', size: 1_500_000, detail: 'npm package' },
    { name: 'executable darwin-x64', state: 'skipped', detail: 'no codesign' },
  ]);
  expect(table.split('\n')).toEqual([
    'a.tgz                  made     1.5 MB  npm package',
    'executable darwin-x64  skipped          no codesign',
  ]);
  const env = { NPM_TOKEN: 'npm_abcdefgh', HOME: '/home/someone', MY_SECRET: 'a' };
  expect(withoutSecrets('401 for npm_abcdefgh in /home/someone', env)).toBe('401 for *** in /home/someone');
});

it('platforms are names, lists or all', () => {
  expect(readPlatforms(['linux-x64,win-x64', 'linux-x64'])).toEqual(['linux-x64', 'win-x64']);
  expect(readPlatforms(['all'])).toEqual(PLATFORM_NAMES);
  expect(() => readPlatforms(['solaris'])).toThrow(/--platform solaris: expected all or one of linux-x64, /);
});

it('the units of gateways are those that the program writes, and systemd accepts them', async () => {
  const units = gatewayUnits();
  for (const [path, text] of units) await expect(text).toMatchFileSnapshot(join(ROOT, path));
  const plist = [...units].find(([path]) => path.endsWith('vmcp.plist'))?.[1];
  expect(plist).toContain('<string>dev.toolmgr.vmcp</string>');
  expect(plist).not.toContain('AbandonProcessGroup'); // its backends end with it
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return;
  const folder = temporaryFolder('units');
  for (const [path, text] of gatewayUnits(process.execPath)) {
    if (!path.endsWith('.service')) continue;
    const file = join(folder, basename(path));
    writeFileSync(file, text);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect({ status, about: stderr.split('\n').filter((line) => line.includes(basename(path))) }).toEqual({
      status: 0,
      about: [],
    });
  }
});
