import { describe, expect, it } from 'vitest';
import { parseSkillReference } from '../../../plugins/skills/artifact/skill-reference.ts';

describe('a reference of a skill', () => {
  it.each<[string, object]>([
    ['code-review', { kind: 'name', name: 'code-review' }],
    ['git://github.com/org/skills', { kind: 'git', host: 'github.com', repository: 'org/skills' }],
    [
      'git://github.com/org/skills@v1.2.0#tools/code-review',
      { kind: 'git', host: 'github.com', repository: 'org/skills', ref: 'v1.2.0', path: 'tools/code-review' },
    ],
    ['git://gitlab.com/a/b/c@feature/x', { kind: 'git', host: 'gitlab.com', repository: 'a/b/c', ref: 'feature/x' }],
    ['https://github.com/org/skills.git', { kind: 'git', host: 'github.com', repository: 'org/skills' }],
    [
      'https://github.com/org/skills/tree/main/tools/code-review',
      { kind: 'git', host: 'github.com', repository: 'org/skills', ref: 'main', path: 'tools/code-review' },
    ],
    [
      'https://gitlab.com/org/skills/-/tree/main/one',
      { kind: 'git', host: 'gitlab.com', repository: 'org/skills', ref: 'main', path: 'one' },
    ],
    [
      'ghcr.io/org/code-review:1.0',
      { kind: 'oci', image: { registry: 'ghcr.io', repository: 'org/code-review', tag: '1.0' } },
    ],
    [
      'io.github.org/code-review',
      {
        kind: 'oci',
        image: { registry: 'io.github.org', repository: 'code-review' },
        inRegistry: { namespace: 'io.github.org', name: 'code-review' },
      },
    ],
  ])('%s is read', (text, expected) => {
    expect(parseSkillReference(text)).toEqual(expected);
  });

  it.each([
    '',
    '-',
    '--upload-pack=touch /tmp/x',
    'Name',
    'git://',
    'git://github.com',
    'git://github.com/org',
    'git://github.com/org/',
    'git://-oProxyCommand=x/org/repo',
    'git://user:password@github.com/org/repo',
    'git://github.com/org/repo@',
    'git://github.com/org/repo@-b',
    'git://github.com/org/repo@--upload-pack=x',
    'git://github.com/org/repo@a..b',
    'git://github.com/org/repo@/a',
    'git://github.com/org/repo@a//b',
    'git://github.com/org/repo@a.lock',
    'git://github.com/org/repo@a b',
    'git://github.com/org/repo@a\nb',
    'git://github.com/org/repo#../x',
    'git://github.com/org/repo#a/../../x',
    'git://github.com/org/repo#a//b',
    'git://github.com/org/repo#-x',
    'git://github.com/org/repo#a\\b',
    'git://github.com/../repo',
    'git://github.com/org/..',
    'git://github.com/-org/repo',
    'http://github.com/org/repo',
    'https://user:secret@github.com/org/repo',
    'https://github.com/org/repo?x=1',
    'https://github.com/org',
    'file:///etc/passwd',
    'ext::sh -c id',
    'ssh://git@github.com/org/repo',
    'git@github.com:org/repo',
    'ghcr.io/Org/x y',
    'ghcr.io/org/skill@sha256:00',
    `ghcr.io/${'a'.repeat(520)}`,
  ])('%j is refused', (text) => {
    const read = parseSkillReference(text);
    expect(read).toHaveProperty('problem');
    expect(JSON.stringify(read)).not.toContain('secret');
  });
});
