import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../core/mcp/message.ts';

const read = (text: string) => readMessage(Buffer.from(text));

describe('a message', () => {
  it('keeps its id as it was written', () => {
    for (const id of ['1', '"a\\u0062"', '1.0', '12345678901234567890', '""', '-0']) {
      const message = read(`{"jsonrpc":"2.0","id":${id},"method":"m"}`);
      expect(message).toMatchObject({ kind: 'request' });
      expect('id' in message && message.id.toString()).toBe(id);
    }
  });

  it('is a request, a notification or a response by its members', () => {
    expect(read('{"jsonrpc":"2.0","method":"m","params":{"a":1}}')).toMatchObject({
      kind: 'notification',
      given: { a: 1 },
    });
    expect(read('{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}')).toEqual({
      kind: 'response',
      key: 1,
      answer: { result: Buffer.from('{"a":1.0}') },
    });
    expect(read('{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no","data":[1.0]}}')).toEqual({
      kind: 'response',
      key: 'x',
      answer: { error: { code: -1, message: 'no', data: Buffer.from('[1.0]') } },
    });
    expect(read(' \r\n{"jsonrpc":"2.0","id":1,"method":"m"}\t')).toMatchObject({ kind: 'request' });
  });

  it('is nothing else', () => {
    const bad = [
      '{}',
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":1,"result":5}',
      '{"jsonrpc":"2.0","result":{}}',
      '{"jsonrpc":"2.0","id":{},"method":"m"}',
      '{"jsonrpc":"2.0","id":true,"method":"m"}',
      '{"jsonrpc":"2.0","id":1,"method":5}',
      '{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}',
      '{"jsonrpc":2.0,"id":1,"method":"m"}',
      'null',
      '"text"',
      '[]',
      '[{"jsonrpc":"2.0","id":1,"method":"m"}]',
    ];
    for (const text of bad) expect([text, read(text)]).toMatchObject([text, { misread: { code: -32600 } }]);
    const torn = [
      '',
      ' ',
      '{',
      '{"a":}',
      '{"jsonrpc":"2.0","id":01,"method":"m"}',
      '{"a":tru}',
      '[1,]',
      '\ufeff{}',
      '{} {}',
    ];
    for (const text of torn) expect([text, read(text)]).toMatchObject([text, { misread: { code: -32700 } }]);
  });
});
