import { describe, expect, it } from 'vitest';
import type { PodTemplate } from '../../../../hosts/operator/objects/built-in-kinds.ts';
import { mergePodTemplate } from '../../../../hosts/operator/objects/merge-pod-template.ts';

const GENERATED = {
  metadata: { labels: { app: 'a' } },
  spec: {
    containers: [
      {
        name: 'vmcp',
        args: ['serve', '--port', '4483'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
        ports: [{ containerPort: 4483, name: 'http' }],
        resources: { limits: { cpu: '500m', memory: '512Mi' } },
        volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
      },
    ],
    imagePullSecrets: [{ name: 'one' }],
    securityContext: { runAsUser: 65_532, runAsNonRoot: true },
    volumes: [{ name: 'config', configMap: { name: 'c' } }],
  },
} satisfies PodTemplate;

const merged = (patch: unknown): PodTemplate => {
  const result = mergePodTemplate(GENERATED, patch);
  if ('problem' in result) throw new Error(result.problem);
  return result.template;
};
const problem = (patch: unknown): string => {
  const result = mergePodTemplate(GENERATED, patch);
  return 'problem' in result ? result.problem : 'none';
};

describe('podTemplateSpec', () => {
  it('merges maps key by key and lists by the keys of Kubernetes; neither input changes', () => {
    const before = structuredClone(GENERATED);
    const patch = {
      metadata: { annotations: { team: 'x' } },
      spec: {
        nodeSelector: { disk: 'ssd' },
        containers: [
          { name: 'sidecar', image: 'side' },
          {
            name: 'vmcp',
            env: [
              { name: 'C', value: '3' },
              { name: 'A', value: '2' },
            ],
            resources: { limits: { memory: '1Gi' } },
            volumeMounts: [{ mountPath: '/data', name: 'data' }],
            ports: [{ containerPort: 9090, name: 'metrics' }],
          },
        ],
        imagePullSecrets: [{ name: 'two' }, { name: 'one' }],
        initContainers: [{ name: 'init', env: [{ name: 'X', value: 'y' }] }],
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
    };
    const kept = structuredClone(patch);
    const { metadata, spec } = merged(patch);
    expect(metadata).toEqual({ labels: { app: 'a' }, annotations: { team: 'x' } });
    expect(spec.containers.map(({ name }) => name)).toEqual(['vmcp', 'sidecar']);
    expect(spec.containers[0]).toMatchObject({
      args: ['serve', '--port', '4483'],
      env: [
        { name: 'A', value: '2' },
        { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        { name: 'C', value: '3' },
      ],
      ports: [{ containerPort: 4483 }, { containerPort: 9090 }],
      resources: { limits: { cpu: '500m', memory: '1Gi' } },
      volumeMounts: [{ mountPath: '/etc/config' }, { mountPath: '/data' }],
    });
    expect(spec.imagePullSecrets).toEqual([{ name: 'one' }, { name: 'two' }]);
    expect(spec).toMatchObject({ nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'gpu' }] });
    expect(spec.volumes).toHaveLength(2);
    expect([GENERATED, patch]).toEqual([before, kept]);
  });

  it('replaces other lists, and null removes a key', () => {
    const { spec } = merged({
      spec: { containers: [{ name: 'vmcp', args: ['other'], resources: null }], securityContext: { runAsUser: null } },
    });
    expect(spec.containers[0]).toMatchObject({ args: ['other'] });
    expect(spec.containers[0]).not.toHaveProperty('resources');
    expect(spec.securityContext).toEqual({ runAsNonRoot: true });
  });

  it('understands the directives $patch, $retainKeys and $deleteFromPrimitiveList', () => {
    expect(merged({ spec: { containers: [{ name: 'vmcp', env: [{ name: 'A', $patch: 'delete' }] }] } })).toMatchObject({
      spec: { containers: [{ env: [{ name: 'B' }] }] },
    });
    expect(merged({ spec: { securityContext: { $patch: 'replace', fsGroup: 1 } } }).spec.securityContext).toEqual({
      fsGroup: 1,
    });
    expect(merged({ spec: { volumes: [{ $patch: 'replace' }, { name: 'new', emptyDir: {} }] } }).spec.volumes).toEqual([
      { name: 'new', emptyDir: {} },
    ]);
    const volume = { name: 'config', $retainKeys: ['name', 'emptyDir'], emptyDir: {} };
    expect(merged({ spec: { volumes: [volume] } }).spec.volumes).toEqual([{ name: 'config', emptyDir: {} }]);
    const args = { name: 'vmcp', '$deleteFromPrimitiveList/args': ['--port'] };
    expect(merged({ spec: { containers: [args] } }).spec.containers[0]?.args).toEqual(['serve', '4483']);
  });

  it.each([
    ['a text', 'x', 'it must be an object'],
    ['another key', { status: {} }, 'status is no key of a pod template'],
    ['an item without its key', { spec: { volumes: [{ emptyDir: {} }] } }, 'spec.volumes[0]: it needs name'],
    ['a list that is none', { spec: { containers: { name: 'vmcp' } } }, 'spec.containers'],
    ['an unknown directive', { spec: { '$setElementOrder/containers': [] } }, '$setElementOrder/containers is not'],
    ['an unknown $patch', { spec: { $patch: 'merged' } }, '$patch must be'],
  ])('%s is a problem that names the place', (_what, patch, message) => {
    expect(problem(patch)).toContain(message);
  });

  it('a template that is too deep is a problem, and keys of the prototype change no other object', () => {
    let deep: object = {};
    for (let at = 0; at < 5_000; at++) deep = { a: deep };
    expect(problem({ spec: { affinity: deep } })).toContain('deeper than');
    merged(JSON.parse('{"spec":{"__proto__":{"polluted":true},"nodeSelector":{"constructor":"x"}}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
