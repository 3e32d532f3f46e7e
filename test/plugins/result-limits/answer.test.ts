import { type JsonObject, resultFromValue } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { answerFor } from '../../../plugins/result-limits/answer.ts';
import { textsOf } from '../../support/result-limited-gateway.ts';

const structuredContent = { rows: Array.from({ length: 5_000 }, (_, n) => n) };

describe('the answer in place of a result', () => {
  it('has the begin of structured content behind a short text or none, as much as the budget allows', () => {
    const contents: readonly JsonObject[] = [{ content: [] }, { content: [{ type: 'text', text: '5,000 rows' }] }, {}];
    for (const content of contents) {
      const result = resultFromValue({ ...content, structuredContent });
      const over = { tool: 'x', result, budget: 8_192, keepForMs: 1, client: {} };
      for (const [outcome, number] of [
        [{ id: 'x'.repeat(43) }, ',300,'],
        [{ because: 'so' }, ',1300,'],
      ] as const) {
        const answer = answerFor({ ...over, outcome });
        const [text = ''] = textsOf(answer.value);
        expect(text).toContain('Its structuredContent begins:\n{"rows":[0,1,2,');
        expect(text).toContain(number);
        expect(answer.bytes.length).toBeLessThan(8_192);
      }
    }
  });

  it('names the members of a result that are left out', () => {
    const content = [{ type: 'text', text: 'x'.repeat(9_000) }];
    const result = resultFromValue({ content, structuredContent, _meta: { 'example.com/page': 2 } });
    const over = { tool: 'x', result, budget: 8_192, keepForMs: 1, client: {}, outcome: { because: 'so' } };
    expect(textsOf(answerFor(over).value)[0]).toContain(
      'structuredContent is left out here.\n_meta is left out here.\n',
    );
  });
});
