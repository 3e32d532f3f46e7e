import { encode } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { attributeNaming } from '../../../plugins/telemetry/attribute-table.ts';
import { boundedLabels, OTHER } from '../../../plugins/telemetry/bounded-labels.ts';
import { createLabelledCounter } from '../../../plugins/telemetry/labelled-counter.ts';
import { maskedArguments } from '../../../plugins/telemetry/masked-arguments.ts';
import { contextFieldsOf, contextFrom, metaWith } from '../../../plugins/telemetry/trace-context.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const OTHER_PARENT = '00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01';

describe('arguments on spans', () => {
  proves('choice.telemetry.masked-arguments', 'are masked by name at any depth, and cut', () => {
    expect(
      maskedArguments({ city: 'Oslo', days: 3, apiKey: 'k', nested: { Password: 'p', ok: [1, { token: 't' }] } }),
    ).toBe('city=Oslo, days=3, apiKey=[masked], nested={Password:[masked],ok:[1,{token:[masked]},]}');
    expect(maskedArguments({ a: 'x'.repeat(500), b: 'y' })).toBe(`a=${'x'.repeat(100)}, b=y`);
    expect(
      maskedArguments(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`n${n}`, 'z'.repeat(40)]))),
    ).toHaveLength(200);
    expect(maskedArguments({})).toBe('');
  });

  it('takes no longer for large arguments', () => {
    const large = { list: Array.from({ length: 200_000 }, (_, n) => ({ n })), text: 'x'.repeat(5_000_000) };
    const usedMs = cpuClock();
    for (let n = 0; n < 100; n++) maskedArguments(large);
    expect(usedMs()).toBeLessThan(500);
  });
});

describe('labels', () => {
  proves('choice.telemetry.bounded-series', 'are bounded in number and cut to 128 bytes, but stay distinct', () => {
    const label = boundedLabels(3);
    const [a, b] = [`${'ö'.repeat(200)}a`, `${'ö'.repeat(200)}b`].map(label);
    expect(Buffer.byteLength(a ?? '')).toBeLessThanOrEqual(128);
    expect(a).not.toBe(b);
    expect(label('short')).toBe('short');
    expect(label('one too many')).toBe(OTHER);
    expect(label('short')).toBe('short');
  });
});

describe('counters', () => {
  proves('choice.telemetry.bounded-series', 'have bounded series and lose no count', () => {
    let look: (seen: { observe(count: number, labels: object): void }) => void = () => {};
    const tally = createLabelledCounter({ addCallback: (read: typeof look) => (look = read) } as never, ['a', 'b']);
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 2_500; n++) tally.add({ a: String(n), b: 'x' });
    }
    const seen: [number, object][] = [];
    look({ observe: (count, labels) => seen.push([count, labels]) });
    expect(seen).toHaveLength(2_001);
    expect(seen[0]).toEqual([2, { a: '0', b: 'x' }]);
    expect(seen.at(-1)).toEqual([1_000, { 'otel.metric.overflow': true }]);
  });
});

describe('attribute names', () => {
  it('have former names only when configured', () => {
    expect(attributeNaming(true)({ status: 200, tool: undefined, rpcService: 'mcp' })).toEqual({
      'http.response.status_code': 200,
      'http.status_code': 200,
      'rpc.service': 'mcp',
    });
    expect(attributeNaming(false)({ status: 200, rpcService: 'mcp' })).toEqual({ 'http.response.status_code': 200 });
  });
});

describe('trace context', () => {
  const round = (headers: Record<string, string>, meta?: object) =>
    contextFieldsOf(contextFrom(headers, meta as Parameters<typeof contextFrom>[1]));

  proves('choice.telemetry.meta-wins', 'is read from _meta, then from headers', () => {
    expect(round({ traceparent: PARENT, tracestate: 'a=1' })).toEqual({ traceparent: PARENT, tracestate: 'a=1' });
    expect(round({ traceparent: PARENT, tracestate: 'a=1' }, { traceparent: OTHER_PARENT })).toEqual({
      traceparent: OTHER_PARENT,
    });
    expect(round({ traceparent: PARENT }, { traceparent: 'garbage', tracestate: 'b=2' })).toEqual({
      traceparent: PARENT,
    });
    expect(round({ baggage: 'a=1' }, { baggage: 'b=2' })).toEqual({ baggage: 'b=2' });
  });

  it.each(['', '00-0-0-01', `${PARENT}${'-x'.repeat(500)}`, 7, null, { a: 1 }])(
    'ignores the parent %j',
    (traceparent) => {
      expect(round({}, { traceparent, tracestate: 'a=1' })).toEqual({});
    },
  );

  proves('choice.telemetry.baggage-is-no-header', 'cannot inject a header', () => {
    expect(round({}, { baggage: 'a=1\r\nx-evil: yes' })).toEqual({ baggage: 'a=1%0D%0Ax-evil%3A%20yes' });
    expect(round({}, { baggage: 'a=1;meta\r\nx-evil: yes' })).toEqual({});
    expect(round({}, { traceparent: PARENT, tracestate: 'a=1\r\nx-evil: yes' })).toEqual({ traceparent: PARENT });
    expect(round({}, { baggage: `a=${'x'.repeat(9_000)}` })).toEqual({});
  });

  it("replaces the client's fields in _meta and keeps the rest", () => {
    const meta = encode({ vendor: { n: 1 }, traceparent: PARENT, baggage: 'a=1' });
    expect(JSON.parse(metaWith(meta, { traceparent: OTHER_PARENT }).toString())).toEqual({
      vendor: { n: 1 },
      traceparent: OTHER_PARENT,
    });
    expect(metaWith(undefined, { traceparent: PARENT }).toString()).toBe(`{"traceparent":"${PARENT}"}`);
  });
});
