import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apiReports, reportChanges, reportOf } from '../scripts/docs/api-report.ts';
import { ROOT, sourceTexts } from '../scripts/docs/sources.ts';
import { proves } from './support/proves.ts';

const WHAT_TO_DO =
  'The exports of the packages differ from their report. What was removed or changed is a breaking change: add a changeset ' +
  '(docs/project/api-stability.md). Then write the report: npm run docs';

describe('the report of exports', () => {
  proves('ask.api.report', 'lists what the packages export', () => {
    const found = [...apiReports()].flatMap(([path, text]) => {
      const file = join(ROOT, path);
      return reportChanges(existsSync(file) ? readFileSync(file, 'utf8') : '', text).map((line) => `${path}: ${line}`);
    });
    expect(found, WHAT_TO_DO).toEqual([]);
  });

  it('has the declarations of other modules, and those that they use, without comments', () => {
    const files: Readonly<Record<string, string>> = {
      '/p/index.d.ts': `export { type Shape, make as create } from './shape.ts';\nexport declare const SIDES: 4;\n`,
      '/p/shape.d.ts': `import type { Point } from './point.ts';
import type { Unused } from 'elsewhere';
/** A shape. */
export interface Shape {
    /** Its corners. */
    readonly corners: readonly Point[];
    /** @deprecated since 0.2: use \`corners\` */
    readonly points: readonly import("./point.ts").Point[];
}
/**
 * @experimental
 */
export declare function make(): Shape;
type Hidden = 1;
`,
      '/p/point.d.ts': 'export type Point = readonly [x: number, y: number];\n',
    };
    const report = reportOf({ entry: 'p', types: '/p/index.d.ts' }, (file) => files[file] ?? '');
    expect(report.split('\n\n').slice(1)).toEqual([
      '== exported',
      'const SIDES: 4;',
      expect.stringMatching(
        /^interface Shape \{\n {4}readonly corners.+\n\/\*\* @deprecated since 0\.2: use `corners` \*\/\n/,
      ),
      '/** @experimental */\nfunction make(): Shape;\nexport { make as create }',
      '== used by exported declarations, not exported',
      'type Point = readonly [x: number, y: number];\n',
    ]);
  });

  it('says what was removed, changed and added', () => {
    const text = (...blocks: readonly string[]) => ['Exports', '== exported', ...blocks].join('\n\n');
    const before = text('interface A {\n    a: string;\n}', 'function gone(): void;', 'function f(): void;');
    const after = text('interface A {\n    a: number;\n}', 'function f(): void;\nexport { f as g }');
    expect(reportChanges(before, after)).toEqual([
      'changed: A',
      '  - a: string;',
      '  + a: number;',
      'removed: gone',
      'removed: f',
      'added: g',
    ]);
  });
});

proves('ask.api.deprecated', 'each deprecated declaration names the version that marked it and the replacement', () => {
  const wrong: string[] = [];
  for (const [path, text] of sourceTexts(['core', 'plugins', 'hosts'])) {
    for (const [, mark = ''] of text.matchAll(/@deprecated\b([^\n]*)/g)) {
      if (!DEPRECATED.test(mark)) wrong.push(`${path}: @deprecated${mark}`);
    }
  }
  expect(wrong, 'write: @deprecated since VERSION: use REPLACEMENT').toEqual([]);
  expect(DEPRECATED.test(' since 0.2: use `corners`')).toBe(true);
  expect(DEPRECATED.test(' use corners')).toBe(false);
});

const DEPRECATED = /^ since \d+\.\d+(?:\.\d+)?: use \S/;
