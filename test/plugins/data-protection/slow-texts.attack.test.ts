import { describe, expect, it } from 'vitest';
import { DETECTORS } from '../../../plugins/data-protection/detectors.ts';
import { findIn } from '../../../plugins/data-protection/find.ts';
import { leastCpuMs } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';

const inText = (subject: string) => findIn(subject, undefined, DETECTORS);

describe('a text that is made to be slow', () => {
  const parts = [
    ...[
      '4',
      '4 ',
      '4111 ',
      '4 1 ',
      'a@',
      'b.',
      'a@b-',
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN A A A A A A A A A A ',
      'eyJ-',
      'eyJaaaaaaaa.',
    ],
    ...[
      'token=',
      'token        =',
      '+1',
      '+1 2 3 ',
      'DE89',
      'DE89 A B ',
      'ghp_',
      'github_pat_',
      'xoxb-',
      'sk-',
      'sk-ant-',
      'glpat-',
    ],
    ...[
      'hooks.slack.com/services/T',
      '-',
      ' ',
      '123-45-',
      '\\n',
      '-----BEGIN PRIVATE KEY-----\n',
      `-----BEGIN PRIVATE KEY-----${' '.repeat(64)}a`,
      'secretaccesskey',
      '\\',
      '\\"',
      `-----BEGIN PRIVATE KEY-----\n${'a'.repeat(40)}: b`,
    ],
  ];

  proves(
    'ask.protection.linear',
    'takes no more than a few milliseconds per KB, and four times the time for four times the text',
    () => {
      for (const part of parts) {
        const small = part.repeat(65_536 / part.length);
        const large = small.repeat(4);
        // quadratic time would be sixteen times as much; small times are noise
        const most = Math.max(60, 10 * leastCpuMs(6, () => inText(small)));
        expect(
          leastCpuMs(most, () => inText(large)),
          part,
        ).toBeLessThan(most);
      }
    },
  );
});

it('a text in which a card number may begin anywhere takes at most half a millisecond per KB', () => {
  const digits = '4 '.repeat(32_768);
  expect(leastCpuMs(32, () => inText(digits))).toBeLessThan(32);
});
