import { describe, expect, it } from 'vitest';
import { DETECTORS } from '../../../plugins/data-protection/detectors.ts';
import { beginSearch } from '../../../plugins/data-protection/search.ts';
import { CARD, MAIL, TOKEN } from '../../support/protected-gateway.ts';

const R16 = 'q7Zk2LmX9pTw4RbV';
const R36 = `${R16}c8Hd3NsY6jFg1KaQ5eUo`;
const PAN = CARD.replaceAll(' ', '');

function begin() {
  const actions = new Map(DETECTORS.map((detector) => [detector, 'mask' as const]));
  return beginSearch({ direction: 'results', isStrict: true, detectors: DETECTORS, actions }, 100_000, true);
}
/** What is written for a text in a result. */
const searched = (text: string): string =>
  (
    JSON.parse(
      begin()
        .json(Buffer.from(JSON.stringify([text])))
        .toString(),
    ) as [string]
  )[0];

describe('JSON in a text', () => {
  it('is searched as what it means, where an escape is right before the data', () => {
    for (const [given, name] of [
      [PAN, 'card-number'],
      [TOKEN, 'github-token'],
      [['sk-', `ant-${R36}`].join(''), 'anthropic-key'],
      ['DE89370400440532013000', 'iban'],
      ['+14155552671', 'phone-number'],
      ['123-45-6789', 'us-ssn'],
      [MAIL, 'mail-address'],
    ] as const) {
      for (const before of ['\\n', '\\t', '\\r', '\\u000a'])
        expect(searched(` {"n": "a${before}${given}"}\n`)).toBe(
          ` {"n": ${JSON.stringify(`a${JSON.parse(`"${before}"`)}[${name}]`)}}\n`,
        );
      for (const lines of [`{"n":"a\\n${given}"}\n{"n":1}`, `so: {"n":"a\\n${given}"}`])
        expect(searched(lines)).toBe(lines.replace(given, `[${name}]`));
    }
  });

  it('is searched in its strings too, some levels deep, and with fewer escapes', () => {
    let text = JSON.stringify({ a: `x\n${MAIL}`, password: R36 });
    for (let level = 0; level < 6; level++) {
      expect(searched(text)).not.toContain(MAIL);
      expect(searched(text)).not.toContain(R36);
      let inner: unknown = JSON.parse(searched(text));
      while (typeof (inner as { a: string }).a !== 'string' || (inner as { in?: string }).in !== undefined)
        inner = JSON.parse((inner as { in: string }).in);
      expect(inner).toMatchObject({ a: 'x\n[mail-address]', password: '[generic-secret]' });
      text = JSON.stringify({ in: text });
    }
  });

  it('stays valid JSON, and every byte that was not found stays', () => {
    for (const [text, expected] of [
      [`{"to":"x\\n${MAIL}"}`, '{"to":"x\\n[mail-address]"}'],
      [`{"cmd":"curl -d \\"password=${R16}\\" x"}`, '{"cmd":"curl -d \\"password=[generic-secret]\\" x"}'],
      [
        `{ "pan" : ${PAN}, "n":1.50, "big":123456789012345678901 }`,
        '{ "pan" : "[card-number]", "n":1.50, "big":123456789012345678901 }',
      ],
      [`[${PAN},-0.0, ${PAN}]`, '["[card-number]",-0.0, "[card-number]"]'],
      [`{"${MAIL}":"\\u00e9","b":"${MAIL}"}`, '{"[mail-address]":"\\u00e9","b":"[mail-address]"}'],
      [`"a\\n${PAN}"`, '"a\\n[card-number]"'],
      [`log: {"cmd":"curl -d \\"password=${R16}\\" x"}`, 'log: {"cmd":"curl -d \\"password=[generic-secret]\\" x"}'],
      ['{"a":"\\u0061\\n", "b":[1e5]}', '{"a":"\\u0061\\n", "b":[1e5]}'],
    ] as const)
      expect(searched(text)).toBe(expected);
  });

  it('is searched in errors, where escapes hide data', () => {
    const search = begin();
    search.fixedText('{"to":"ada\\u0040example.com","c":"4111\\u00201111\\u00201111\\u00201111"}');
    search.fixedText('"ada\\u0040example.com"');
    expect(search.found()).toEqual([
      { detector: 'mail-address', action: 'block', count: 2 },
      { detector: 'card-number', action: 'block', count: 1 },
    ]);
  });
});

describe('a long secret', () => {
  const long = R36.repeat(6);

  it('is masked to its end', () => {
    expect(searched(`api_key=${long}, x`)).toBe('api_key=[generic-secret], x');
    expect(searched(`api_key=${long}`)).toBe('api_key=[generic-secret]');
  });

  it('is masked as a whole where it is the value of a key, of any length', () => {
    for (const value of [long, long.repeat(4), `${R36},${R36} ${R36}`])
      expect(
        begin()
          .json(Buffer.from(JSON.stringify({ api_key: value })))
          .toString(),
      ).toBe('{"api_key":"[generic-secret]"}');
  });
});
