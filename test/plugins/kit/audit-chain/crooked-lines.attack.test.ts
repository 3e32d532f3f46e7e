import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createAuditChain, createChainChecks } from '@toolmgr/plugins/kit/audit-chain';
import { describe, expect, it } from 'vitest';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

/** Three lines and a checkpoint, without line breaks. */
function written({ key }: { readonly key?: KeyObject } = { key: privateKey }): string[] {
  const chain = createAuditChain({ next: 0, previous: '' }, 'team', key);
  const lines = ['a', 'b', 'c'].map((name) => chain.add(JSON.stringify({ name, text: '}{"chain":{"n":9}}' })));
  return [...lines, chain.checkpoint(0) ?? ''].filter((line) => line !== '').map((line) => line.trimEnd());
}

function checked(lines: readonly (string | Buffer)[], key: KeyObject | undefined = publicKey) {
  const checks = createChainChecks(key);
  for (const [index, line] of lines.entries()) checks.add('audit.log', index + 1, Buffer.from(line));
  return checks.report();
}

const withChain = (line: string, chain: string): string => line.replace(/"chain":\{[^}]*\}\}$/, `"chain":${chain}}`);

describe('the checks of a chain', () => {
  it('find nothing in lines as they were written, whose texts look like places of a chain', () => {
    expect(checked(written())).toMatchObject({ problems: [], checkpoints: 1, unsigned: 0, first: 0, last: 3 });
    expect(checked(written({}))).toMatchObject({ problems: [], checkpoints: 0, unsigned: 3 });
  });

  const crooked: readonly (readonly [string, string | Buffer])[] = [
    ['a number that is a text', '{"chain":{"n":"1","previous":""}}'],
    ['a negative number', '{"chain":{"n":-1,"previous":""}}'],
    ['a number beyond all', '{"chain":{"n":1e308,"previous":""}}'],
    ['a fraction', '{"chain":{"n":1.5,"previous":""}}'],
    ['a place that is a list', '{"chain":[1]}'],
    ['a place that is null', '{"chain":null}'],
    ['a hash that is an object', '{"chain":{"n":1,"previous":{}}}'],
    ['a line that is a list', '[]'],
    ['an empty line', ''],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
    ['a value that is nested a million deep', '['.repeat(1_000_000)],
  ];
  it.each(crooked)('report %s, and continue with the next line', (_what, line) => {
    const [a = '', b = '', ...rest] = written();
    const { problems, lines } = checked([a, line, b, ...rest]);
    expect(lines).toBe(5);
    expect(problems[0]).toMatchObject({ file: 'audit.log', line: 2 });
  });

  it.each([
    ['is no text', '{"n":3,"previous":"PREVIOUS","signature":7}'],
    ['is empty', '{"n":3,"previous":"PREVIOUS","signature":""}'],
    ['is longer than any', `{"n":3,"previous":"PREVIOUS","signature":"${'A'.repeat(1_000_000)}"}`],
  ])('count no line as signed by a signature that %s', (_what, chain) => {
    const lines = written();
    const [previous = ''] = /(?<="previous":")[^"]*/.exec(lines[3] ?? '') ?? [];
    const { problems, unsigned } = checked([
      ...lines.slice(0, 3),
      withChain(lines[3] ?? '', chain.replace('PREVIOUS', previous)),
    ]);
    expect(problems.map(({ problem }) => problem)).toEqual(['the signature of the checkpoint does not fit the key']);
    expect(unsigned).toBe(4);
  });

  it('count no line as signed by the checkpoint of another gateway', () => {
    const lines = written();
    const other = (lines[3] ?? '').replace('"component":"team"', '"component":"other"');
    expect(checked([...lines.slice(0, 3), other])).toMatchObject({ unsigned: 4, problems: [{ line: 4 }] });
  });

  it('name a hundred problems and count the others', () => {
    const report = checked([written()[0] ?? '', ...Array<string>(500).fill('{}')]);
    expect(report.problems).toHaveLength(100);
    expect(report.moreProblems).toBe(400);
  });
});
