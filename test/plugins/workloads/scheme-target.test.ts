import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isFloating,
  nameOfTarget,
  readRequirement,
  readScheme,
  requirementText,
} from '@toolmgr/plugins/kit/workloads/schemes';
import { describe, expect, it } from 'vitest';

/** The target of a text that must be valid. */
function target(text: string) {
  const read = readScheme(text);
  if (read?.kind !== 'target') throw new Error(`${text} is refused`);
  return read.target;
}

describe('readScheme', () => {
  it('reads npm packages with scopes, versions, ranges and tags', () => {
    expect(target('npx://pkg')).toEqual({ scheme: 'npx', name: 'pkg' });
    expect(target('NPX://@a/b@2.0.0-rc.1')).toEqual({ scheme: 'npx', name: '@a/b', version: '2.0.0-rc.1' });
    expect(target('npx://pkg@>=1 <2')).toEqual({ scheme: 'npx', name: 'pkg', version: '>=1 <2' });
    expect(target('npx://pkg@next')).toEqual({ scheme: 'npx', name: 'pkg', version: 'next' });
  });

  it('reads Python packages with extras and versions', () => {
    expect(target('uvx://mcp-server-time')).toEqual({ scheme: 'uvx', name: 'mcp-server-time', extras: [] });
    expect(target('uvx://a@latest')).toEqual({ scheme: 'uvx', name: 'a', extras: [] });
    expect(target('uvx://a.b_c@1.2.3')).toMatchObject({ name: 'a.b_c', version: '==1.2.3' });
    expect(target('uvx://a[cli, x]>=1, <2')).toMatchObject({ extras: ['cli', 'x'], version: '>=1,<2' });
    expect(target('uvx://a[cli]@1')).toMatchObject({ extras: ['cli'], version: '==1' });
  });

  it('reads Go packages and folders', () => {
    expect(target('go://github.com/org/repo/cmd/server@v1.2.3')).toEqual({
      ...{ scheme: 'go', package: 'github.com/org/repo/cmd/server', version: 'v1.2.3' },
    });
    expect(target('go://example.org/x')).toMatchObject({ version: 'latest' });
    expect(target('go://example.org/x@feature/y')).toMatchObject({ version: 'feature/y' });
    for (const folder of ['.', '..', './x', '../x y/z', '/abs/x']) {
      expect(target(`go://${folder}`)).toEqual({ scheme: 'go', folder });
    }
  });

  it('refuses options, shell text, lines, paths and addresses', () => {
    const hostile = [
      ...[
        '',
        '-y',
        '--help',
        '--call=x',
        '-r x',
        'pkg; rm',
        'pkg && rm',
        'pkg|sh',
        '$(id)',
        '`id`',
        'pkg\nRUN id',
        'pkg\n',
      ],
      ...[
        'pkg\r',
        'pkg\0',
        "a'b",
        'a"b',
        'a b',
        'a\\b',
        '{a}',
        '<a',
        'http://x',
        'git+ssh://x',
        'file:///etc',
        'a#b',
        '%2e',
      ],
    ];
    for (const scheme of ['npx', 'uvx', 'go']) {
      for (const text of hostile) {
        const read = readScheme(`${scheme}://${text}`);
        expect(read, `${scheme}://${text}`).toMatchObject({ kind: 'refused' });
        expect(JSON.stringify(read)).not.toContain('\\n');
      }
    }
    const npm = [
      '../up',
      './here',
      'here.tgz',
      'here.TAR.GZ',
      '@a/here.tar',
      'p@here.tgz',
      'a/b',
      '@a',
      '.hid',
      '@a/../b',
      '@a/-b;',
      'p@-x',
      'p@',
      'p@1\n2',
      'p@$(id)',
      'a'.repeat(215),
    ];
    const python = [
      'here.whl',
      'here.tar.gz',
      'here.zip@1',
      'here.zip==1',
      '../up',
      'a/b',
      '-a',
      'a-',
      'a[',
      'a[-x]',
      'a@-1',
      'a==',
      'a==-1',
      'a @ http://x',
      'a; python_version<"3"',
      'a@1@2',
      'a[x]]',
    ];
    const go = [
      'x',
      'x/y',
      '-a.b/c',
      'a.b',
      'a.b/-c',
      'a.b/c.',
      'a.b/../c',
      'a.b//c',
      'A.b/c',
      'a.b/c@',
      'a.b/c@-1',
      'a.b/c@1@2',
      'a.b/c@../x',
      '~/x',
      './x\n',
    ];
    for (const text of npm) expect(readScheme(`npx://${text}`), text).toMatchObject({ kind: 'refused' });
    for (const text of python) expect(readScheme(`uvx://${text}`), text).toMatchObject({ kind: 'refused' });
    for (const text of go) expect(readScheme(`go://${text}`), text).toMatchObject({ kind: 'refused' });
  });

  it('names what was expected and known schemes', () => {
    expect(readScheme('uvx://-r x')).toMatchObject({ reason: expect.stringContaining('uvx://PACKAGE[EXTRA]') });
    expect(readScheme('docker://x')).toMatchObject({
      reason: expect.stringContaining('expected uvx://, npx:// or go://'),
    });
    for (const text of ['http://127.0.0.1/mcp', 'https://x.example', './server', 'node', 'a:b']) {
      expect(readScheme(text)).toBeUndefined();
    }
  });

  it('reads every package name of the npm registry that this project uses', async () => {
    const lock = JSON.parse(await readFile(join(import.meta.dirname, '../../../package-lock.json'), 'utf8'));
    const paths = Object.keys(lock.packages).filter((path) => path.includes('node_modules/'));
    const names = paths.map((path) => path.split('node_modules/').at(-1) ?? '');
    expect(names.length).toBeGreaterThan(100);
    for (const name of names) expect(target(`npx://${name}`), name).toEqual({ scheme: 'npx', name });
  });
});

describe('a target', () => {
  it('is floating unless its version is exact', () => {
    const floating = [
      'npx://a',
      'npx://a@latest',
      'npx://a@^1.0.0',
      'npx://a@1.0.0 || 2',
      'uvx://a',
      'uvx://a>=1',
      'uvx://a==1.*',
      'go://a.b/c',
      'go://a.b/c@main',
    ];
    const fixed = ['npx://a@1.0.0', 'uvx://a@1.2', 'uvx://a==1', 'go://a.b/c@v1.0.0', 'go://./x'];
    for (const text of floating) expect(isFloating(target(text)), text).toBe(true);
    for (const text of fixed) expect(isFloating(target(text)), text).toBe(false);
  });

  it('has a name', () => {
    expect(nameOfTarget(target('go://./cmd/server'), '/home/me')).toBe('server');
    expect(nameOfTarget(target('go://.'), '/home/me')).toBe('me');
    expect(nameOfTarget(target('uvx://a[x]==1'), '/')).toBe('a');
    expect(nameOfTarget(target('npx://@a/b@1'), '/')).toBe('@a/b');
  });
});

describe('a constraint of a build', () => {
  it('is a requirement of PEP 508 without URL and marker', () => {
    expect(readRequirement('pydantic<2')).toMatchObject({ name: 'pydantic', version: '<2' });
    const read = readRequirement('a[b, c] >= 1, != 1.5');
    expect(read === undefined ? '' : requirementText(read)).toBe('a[b,c]>=1,!=1.5');
    for (const text of ['--with', 'a @ https://x', 'a; os_name=="x"', "a'", 'a\nb', '']) {
      expect(readRequirement(text), text).toBeUndefined();
    }
  });
});
