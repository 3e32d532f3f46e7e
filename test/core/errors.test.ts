import { describe, expect, it } from 'vitest';
import { explainCause, FAULTS, type FaultCode, faultFrom, GatewayFault } from '../../core/errors.ts';
import { errorsPage } from '../../scripts/docs/errors-page.ts';
import { sourceTexts } from '../../scripts/docs/sources.ts';

describe('the table of faults', () => {
  const codes = Object.keys(FAULTS) as FaultCode[];
  const sources = [...sourceTexts(['core', 'plugins', 'hosts'])]
    .filter(([path]) => path !== 'core/errors.ts')
    .map(([, text]) => text.replace(/\/\*\*[\s\S]*?\*\//g, ''));

  it('has no code that nothing raises', () => {
    const silent = codes.filter((code) => !sources.some((text) => text.includes(`'${code}'`)));
    expect(silent).toEqual([]);
  });

  it('stands whole on the page of errors', () => {
    const page = errorsPage();
    expect(codes.filter((code) => !page.includes(`| \`${code}\` | ${FAULTS[code].status} |`))).toEqual([]);
  });

  it('names codes AREA_WHAT and gives each a status of an error and a meaning', () => {
    const odd = codes.filter((code) => {
      const { status, means } = FAULTS[code];
      return !/^[A-Z]+(_[A-Z]+)+$/.test(code) || status < 400 || status > 599 || means.length < 10;
    });
    expect(odd).toEqual([]);
  });
});

describe('a fault', () => {
  it('keeps its cause and carries the status of its code', () => {
    const cause = new Error('reset');
    const fault = new GatewayFault('BACKEND_TIMEOUT', 'backend a did not answer', { cause });
    expect([fault.status, fault.cause, fault.name]).toEqual([504, cause, 'GatewayFault']);
  });

  it('passes as it is, while anything else is wrapped under the code given', () => {
    const fault = new GatewayFault('BACKEND_BUSY', 'full');
    expect(faultFrom(fault, 'BACKEND_TIMEOUT', 'late')).toBe(fault);
    const wrapped = faultFrom('odd', 'BACKEND_TIMEOUT', 'late');
    expect([wrapped.code, wrapped.message, wrapped.cause]).toEqual(['BACKEND_TIMEOUT', 'late', 'odd']);
  });

  it('is explained with its causes, however many stand in a circle', () => {
    const inner = new Error('reset');
    const outer = new GatewayFault('BACKEND_UNREACHABLE', 'no answer', { cause: inner });
    expect(explainCause(outer)).toBe('no answer <- reset');
    expect(explainCause(new Error('https://a.test: reset', { cause: inner }))).toBe('https://a.test: reset');
    inner.cause = outer;
    expect(explainCause(outer).split(' <- ')).toHaveLength(8);
  });
});
