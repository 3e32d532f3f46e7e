import { describe, expect, it } from 'vitest';
import { collectorUrl } from '../../../plugins/telemetry/collector-url.ts';
import { telemetryConfig } from '../../../plugins/telemetry/config.ts';
import { proves } from '../../support/proves.ts';

describe('the configuration of telemetry', () => {
  proves(
    [
      'vmcp.telemetry.insecure',
      'vmcp.telemetry.tracing-enabled',
      'vmcp.telemetry.metrics-enabled',
      'vmcp.telemetry.sampling-rate',
      'vmcp.telemetry.legacy-attributes',
    ],
    'has the defaults of the contract',
    () => {
      expect(telemetryConfig.parse({})).toEqual({
        headers: {},
        headersEnv: {},
        insecure: false,
        tracingEnabled: false,
        metricsEnabled: false,
        samplingRate: '0.05',
        enablePrometheusMetricsPath: false,
        customAttributes: {},
        environmentVariables: [],
        useLegacyAttributes: true,
      });
    },
  );

  proves('choice.telemetry.no-idle-settings', 'refuses settings without effect', () => {
    const problems = (config: object): string[] =>
      telemetryConfig.safeParse(config).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
    expect(problems({ tracingEnabled: true })).toEqual(['tracingEnabled: needs an endpoint to send spans to']);
    expect(problems({ metricsEnabled: true })[0]).toMatch(/^metricsEnabled: needs an endpoint/);
    expect(problems({ metricsEnabled: true, enablePrometheusMetricsPath: true })).toEqual([]);
    expect(problems({ headers: { a: 'b' } })).toEqual(['headers: has no effect without an endpoint']);
    expect(problems({ insecure: true })).toEqual(['insecure: has no effect without an endpoint']);
    expect(problems({ caCertPath: '/ca.pem' })).toEqual(['caCertPath: has no effect without an endpoint']);
    expect(problems({ endpoint: 'http://c:4318', caCertPath: '/ca.pem' })[0]).toMatch(/^caCertPath: .*plain HTTP/);
    expect(problems({ endpoint: 'c:4318', insecure: true, caCertPath: '/ca.pem' })[0]).toMatch(/^caCertPath: /);
    expect(problems({ endpoint: 'https://c:4318', insecure: true })[0]).toMatch(/^insecure: contradicts/);
    expect(problems({ endpoint: 'c:4318', caCertPath: '/ca.pem', tracingEnabled: true })).toEqual([]);
  });

  it.each([
    [{ samplingRate: 0.5 }, /samplingRate.*decimal in quotes|expected a decimal in quotes/],
    [{ samplingRate: '1.5' }, /from 0 to 1/],
    [{ samplingRate: '-1' }, /from 0 to 1/],
    [{ headers: { 'a b': 'c' }, endpoint: 'c:1' }, /invalid|expected a header name/i],
    [{ headers: { a: 'b\r\nc: d' }, endpoint: 'c:1' }, /without line breaks/],
    [{ customAttributes: { '': 'x' } }, /./],
    [{ enabled: true }, /enabled/],
  ])('refuses %j', (config, sentence) => {
    const read = telemetryConfig.safeParse(config);
    expect(JSON.stringify(read.error?.issues)).toMatch(sentence);
  });

  proves('vmcp.telemetry.endpoint', 'accepts host and port, or a URL with a path', () => {
    expect(collectorUrl('collector:4318', false)).toEqual({ base: 'https://collector:4318' });
    expect(collectorUrl('collector:4318', true)).toEqual({ base: 'http://collector:4318' });
    expect(collectorUrl('[::1]:4318', true)).toEqual({ base: 'http://[::1]:4318' });
    expect(collectorUrl('http://collector:4318/', false)).toEqual({ base: 'http://collector:4318' });
    expect(collectorUrl('https://otel.example.com/ingest/', false)).toEqual({
      base: 'https://otel.example.com/ingest',
    });
  });

  it.each([
    ['not a url at all', /expected host:port/],
    ['grpc://collector:4317', /expected http or https/],
    ['https://user:pass@collector', /credentials/],
    ['https://collector?key=1', /must not have a query or fragment/],
    ['http://collector:4318/v1/traces', /must end before \/v1/],
  ])('refuses the endpoint %s', (endpoint, sentence) => {
    const url = collectorUrl(endpoint, false);
    expect('wrong' in url ? url.wrong : '').toMatch(sentence);
    expect('wrong' in url ? url.wrong : '').not.toContain('pass');
  });
});
