import { describe, expect, it } from 'vitest';
import { readSkillFile } from '../../../plugins/skills/artifact/skill-file.ts';

const read = (text: string) => readSkillFile(Buffer.from(text));
const withFields = (...lines: readonly string[]) =>
  read(['---', 'name: code-review', 'description: Reviews.', ...lines, '---', '# Body', ''].join('\n'));
const errorsOf = (result: ReturnType<typeof read>) => ('errors' in result ? result.errors : []);

describe('SKILL.md', () => {
  it('has all fields of the format, and a body after the front matter', () => {
    expect(
      withFields(
        'version: 1.10',
        'license: MIT',
        'compatibility: needs git',
        'allowed-tools: Read Write  Bash(git:*)',
        'toolmgr.requires:',
        '  - ghcr.io/org/other:1.0.0',
        'metadata:',
        '  author: Ann',
        'unknown: is kept out',
      ),
    ).toEqual({
      fields: {
        name: 'code-review',
        description: 'Reviews.',
        version: '1.10',
        license: 'MIT',
        compatibility: 'needs git',
        allowedTools: ['Read', 'Write', 'Bash(git:*)'],
        requires: ['ghcr.io/org/other:1.0.0'],
        metadata: { author: 'Ann' },
      },
      body: '# Body\n',
      warnings: [],
    });
  });

  it('may have carriage returns, a byte order mark and a line --- in its body', () => {
    const result = read('\ufeff---\r\nname: ab\r\ndescription: x\r\n---\r\nOne\n---\nTwo\n');
    expect(result).toMatchObject({ fields: { name: 'ab' }, body: 'One\n---\nTwo\n' });
  });

  it('splits allowed-tools at commas with a warning, and takes a list', () => {
    const split = withFields('allowed-tools: Read, Bash(git log),Write');
    expect(split).toMatchObject({
      fields: { allowedTools: ['Read', 'Bash(git log)', 'Write'] },
      warnings: [expect.stringContaining('separated by commas')],
    });
    expect(withFields('allowed-tools: [Read, "Bash(a b)"]')).toMatchObject({
      fields: { allowedTools: ['Read', 'Bash(a b)'] },
      warnings: [],
    });
  });

  it('with a body of more than 500 lines is valid with a warning', () => {
    const result = read(`---\nname: ab\ndescription: x\n---\n${'line\n'.repeat(501)}`);
    expect(result).toMatchObject({ warnings: [expect.stringContaining('more than 500 lines')] });
    expect(read(`---\nname: ab\ndescription: x\n---\n${'line\n'.repeat(500)}`)).toMatchObject({ warnings: [] });
  });

  it.each<[string, string, RegExp]>([
    ['without front matter', '# Title\n', /no front matter/],
    ['with front matter that does not end', '---\nname: ab\n', /no front matter/],
    ['with empty front matter', '---\n---\n', /not a map|no front matter/],
    ['with front matter that is a list', '---\n- a\n---\n', /not a map of fields/],
    ['with front matter that is no YAML', '---\nname: [a\n---\n', /is not YAML/],
    ['with a key twice', '---\nname: ab\nname: ac\ndescription: x\n---\n', /is not YAML/],
    ['with front matter over 64 KB', `---\nname: ab\n# ${'x'.repeat(65_536)}\n---\n`, /larger than 64 KB/],
    [
      'with many aliases',
      `---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n---\n`,
      /too many YAML aliases|is missing/,
    ],
    ['that is no text', '\u0000', /no front matter/],
  ])('%s is not valid', (_, text, expected) => {
    expect(errorsOf(read(text)).join('; ')).toMatch(expected);
  });

  it.each<[string, readonly string[], RegExp]>([
    [
      'a long description',
      [`description2: x`, `compatibility: ${'x'.repeat(501)}`],
      /compatibility is longer than 500/,
    ],
    ['a license that is a list', ['license: [MIT]'], /license is not a text/],
    ['allowed-tools that is a map', ['allowed-tools: {a: b}'], /allowed-tools is neither/],
    ['requires that is a text', ['toolmgr.requires: a'], /toolmgr.requires is not a list/],
    ['requires with a plain name', ['toolmgr.requires: [other]'], /"other", which is no OCI reference/],
    ['requires with a git reference', ['toolmgr.requires: ["git://github.com/a/b"]'], /which is no OCI reference/],
    [
      'too many requires',
      ['toolmgr.requires:', ...Array.from({ length: 101 }, (_, n) => `  - ghcr.io/o/s${n}`)],
      /more than 100/,
    ],
    ['metadata with a map', ['metadata:', '  a: {b: c}'], /metadata is not a map from texts to texts/],
    ['a version that is a list', ['version: [1]'], /version is not a text/],
  ])('%s is not valid', (_, lines, expected) => {
    expect(errorsOf(withFields(...lines)).join('; ')).toMatch(expected);
  });

  it.each(['a', 'A-b', 'a--b', '-ab', 'ab-', 'a_b', 'a b', 'a/b', '..', 'ä-b', 'x'.repeat(65), '12.5'])(
    'the name %s is not valid',
    (name) => {
      expect(errorsOf(read(`---\nname: "${name}"\ndescription: x\n---\n`)).join('; ')).toMatch(/name .* is not valid/);
    },
  );

  it.each(['ab', 'a1', '1a', 'a-b-c', 'x'.repeat(64)])('the name %s is valid', (name) => {
    expect(read(`---\nname: "${name}"\ndescription: x\n---\n`)).toMatchObject({ fields: { name } });
  });

  it('needs a name and a description, of at most 1024 characters', () => {
    expect(errorsOf(read('---\nlicense: MIT\n---\n'))).toEqual([
      'name is missing in the front matter of SKILL.md',
      'description is missing in the front matter of SKILL.md',
    ]);
    expect(errorsOf(read(`---\nname: ab\ndescription: ${'x'.repeat(1025)}\n---\n`))).toEqual([
      'description is longer than 1024 characters',
    ]);
    expect(read(`---\nname: ab\ndescription: ${'x'.repeat(1024)}\n---\n`)).toHaveProperty('fields');
    expect(errorsOf(read('---\nname: ab\ndescription: "  "\n---\n'))).toEqual([
      'description is missing in the front matter of SKILL.md',
    ]);
  });

  it('that is not UTF-8 is not valid', () => {
    expect(errorsOf(readSkillFile(Buffer.from([0x2d, 0xff])))).toEqual(['SKILL.md is not UTF-8 text']);
  });
});
