import { describe, expect, it } from 'vitest';
import { PARAPHRASES, type Script } from '../../../../plugins/optimizer/tools/paraphrases.ts';
import { canReadScript, probeTexts, scriptOf } from '../../../../plugins/optimizer/tools/script-support.ts';

const SCRIPTS = Object.keys(PARAPHRASES) as Script[];

describe('the script of a search', () => {
  it.each([
    ['send an email to Łukasz', undefined],
    ['', undefined],
    ['2026-05-12 !?', undefined],
    ['查询天气预报', 'Han'],
    ['帮我用 Python 画一张图', 'Han'],
    ['translate 你好 to English please', undefined],
    ['東京の天気を調べる', 'Kana'],
    ['날씨 알려 줘', 'Hangul'],
    ['прочитай файл notes.txt', 'Cyrillic'],
    ['გამარჯობა', undefined],
  ])('of %s is %s', (text, script) => {
    expect(scriptOf(text)).toBe(script);
  });

  it.each(SCRIPTS)('of all probes in %s is that script', (script) => {
    expect(new Set(probeTexts(script).map(scriptOf))).toEqual(new Set([script]));
    expect(new Set(probeTexts(script)).size).toBe(16);
  });
});

describe('whether a model can read a script', () => {
  const axis = (at: number, size = 8): number[] => Array.from({ length: size }, (_, each) => Number(each === at));
  const pairs = (other: (at: number) => number): Float32Array[] =>
    Array.from({ length: 8 }, (_, at) => [Float32Array.from(axis(at)), Float32Array.from(axis(other(at)))]).flat();

  it('depends on whether each text is nearest to its own paraphrase', () => {
    expect(canReadScript(pairs((at) => at))).toBe(true);
    expect(canReadScript(pairs((at) => (at + 1) % 8))).toBe(false);
    // three of eight wrong, like an English model with Korean
    expect(canReadScript(pairs((at) => (at < 3 ? (at + 1) % 3 : at)))).toBe(false);
    expect(canReadScript(pairs((at) => (at < 2 ? 1 - at : at)))).toBe(false);
  });

  it('is false for equal vectors and for none', () => {
    expect(canReadScript(pairs(() => 0).map(() => Float32Array.of(1, 0)))).toBe(false);
    expect(canReadScript([])).toBe(false);
  });
});
