import { type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';
import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { detailOf, workloadDetail } from '../../../hosts/manager/workloads/detail.ts';
import { exportedConfig } from '../../../hosts/manager/workloads/exported-config.ts';
import { configFromBody } from '../../../hosts/manager/workloads/from-body.ts';
import { createBody, editBody, type WorkloadBody } from '../../../hosts/manager/workloads/workload-body.ts';
import { configFromFlags } from '../../../hosts/workloads/config/config-from-flags.ts';
import { commanderOptions, type RunFlags } from '../../../hosts/workloads/fields/options.ts';

// fields of run configurations get here what they have not in the product: a row, a member of bodies, an object of bodies
vi.mock('../../../hosts/workloads/fields/proxy-options.ts', async (original) => {
  const { PROXY_OPTIONS } = await original<{ PROXY_OPTIONS: Record<string, readonly object[]> }>();
  const [[group = '', rows = []] = []] = Object.entries(PROXY_OPTIONS);
  const row = {
    flags: '--rate-limit-namespace <NAME>',
    stored: 'rate_limit_namespace',
    description: 'keeps counts apart',
    body: { name: 'rate_limit_namespace' },
  };
  const hidden = {
    flags: '--further-label <KEY=VALUE>',
    stored: 'container_labels',
    hidden: 'map',
    description: 'labels',
    body: { name: 'labels' },
  };
  const ofSection = {
    flags: '--service-version <TEXT>',
    stored: 'telemetry_config.serviceVersion',
    description: 'version in traces',
    body: { name: 'telemetry.version' },
  };
  return { PROXY_OPTIONS: { [group]: [...rows, row, hidden, ofSection] } };
});

const URL_OF_SERVER = 'https://far.example/mcp';

const parse = (...args: string[]) => {
  const program = new Command().exitOverride();
  for (const option of commanderOptions()) program.addOption(option);
  return program.parse(args, { from: 'user' });
};

const ofBody = async (more: object, base?: RunConfig) => {
  const body = editBody.parse({ url: URL_OF_SERVER, ...more }) as WorkloadBody;
  return configFromBody(body, { name: 'far', nowMs: 0, ...(base === undefined ? {} : { base }) });
};

const base = (namespace?: string) =>
  runConfig.parse({
    ...{ schema_version: 'v0.1.0', name: 'far', transport: 'streamable-http', remote_url: URL_OF_SERVER },
    ...(namespace === undefined ? {} : { rate_limit_namespace: namespace }),
  });

describe('a row that is added to the table of fields', () => {
  it('is an option with its help, which is stored', async () => {
    const program = parse('--rate-limit-namespace', 'team');
    expect(program.helpInformation()).toMatch(/--rate-limit-namespace <NAME> +keeps counts apart/);
    const { config } = await configFromFlags(URL_OF_SERVER, [], program.opts<RunFlags>(), '/', 0);
    expect(config.rate_limit_namespace).toBe('team');
  });

  it('is accepted in a body, and removed by one that leaves it out', async () => {
    const given = { rate_limit_namespace: 'team' };
    expect(await ofBody({ rate_limit_namespace: 'team' })).toMatchObject({ config: given });
    expect(await ofBody({ rate_limit_namespace: 'team' }, base('other'))).toMatchObject({ config: given });
    expect(await ofBody({}, base('other'))).not.toHaveProperty('config.rate_limit_namespace');
    expect(await ofBody({ rate_limit_namespace: 'not one' })).toHaveProperty('errors');
  });

  it('is shown in the details, empty where it is not set', () => {
    expect(detailOf(base('team'))).toMatchObject({ rate_limit_namespace: 'team' });
    expect(workloadDetail.parse(detailOf(base()))).toMatchObject({ rate_limit_namespace: '' });
  });

  it('has its place in an object of bodies, whose other members of the configuration are kept', async () => {
    const before = { ...base(), telemetry_config: { serviceVersion: '1', samplingRate: '0.5' } };
    const edited = await ofBody({ telemetry: { version: '2' } }, before);
    expect(edited).toMatchObject({ config: { telemetry_config: { serviceVersion: '2', samplingRate: '0.5' } } });
    expect(detailOf(before)).toMatchObject({ telemetry: { version: '1' } });
  });

  it('is hidden where it says so, and restored when it comes back', async () => {
    const container_labels = { API_KEY: 'k-1', team: 'blue' };
    const labelled = { ...base(), container_labels };
    const labels = { API_KEY: '[secret]', team: 'blue' };
    expect(detailOf(labelled)).toMatchObject({ labels });
    expect(exportedConfig(labelled).container_labels).toEqual(labels);
    expect(await ofBody({ labels }, labelled)).toMatchObject({ config: { container_labels } });
    expect(await ofBody({ labels })).toMatchObject({ errors: [{ path: 'labels.API_KEY' }] });
  });

  it('is documented by the schemas of the API', () => {
    const { properties = {} } = z.toJSONSchema(createBody, { io: 'input', unrepresentable: 'any' });
    expect(properties).toMatchObject({
      rate_limit_namespace: { type: 'string', description: 'keeps counts apart' },
    });
  });
});
