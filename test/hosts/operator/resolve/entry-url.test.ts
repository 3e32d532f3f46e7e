import { describe, expect, it } from 'vitest';
import { entryUrlProblem } from '../../../../hosts/operator/resolve/entry-url.ts';

const NEVER = [
  ...['http://127.0.0.1/', 'http://127.1/', 'http://2130706433/', 'http://0x7f.0.0.1/', 'http://0/', 'http://0.0.0.0/'],
  ...[
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://[::]/',
    'http://[fe80::1]/',
    'http://[::ffff:127.0.0.1]/',
  ],
  ...[
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::7f00:1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
  ],
  ...['https://kubernetes/', 'https://kubernetes.default/', 'https://kubernetes.default.svc/'],
  ...['https://kubernetes.default.svc.cluster.local/', 'https://kubernetes.default.svc.cluster.local./'],
  ...['https://kubernetes.default.svc.k8s.example/', 'https://kubernetes.default.svc../'],
  ...['http://metadata.google.internal/', 'http://x.metadata.google.internal/', 'http://instance-data/latest'],
  ...[
    'http://[fd00:ec2::254]/latest',
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://[::ffff:a83f:8110]/',
  ],
  ...['http://localhost.localdomain/', 'http://ip6-localhost/', 'http://ip6-loopback/'],
];
const PRIVATE = [
  ...['http://10.0.0.1/', 'http://172.16.0.1/', 'http://192.168.1.1/', 'http://[fc00::1]/', 'http://100.64.0.1/'],
  ...[
    'http://[::ffff:10.0.0.1]/',
    'http://db.prod.svc.cluster.local/',
    'http://db.prod.svc/',
    'http://db.prod.svc./',
    'http://db/',
  ],
];
const PUBLIC = [
  'https://mcp.example.com/mcp',
  'http://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://svc.example.com/',
];

describe('the URL of an MCPServerEntry', () => {
  it.each(NEVER)('%s is refused', (remoteUrl) => {
    expect(entryUrlProblem({ remoteUrl, allowPrivateEndpoint: true })).toMatch(/which is not allowed$/);
  });

  it.each(PRIVATE)('%s is refused unless allowPrivateEndpoint is set', (remoteUrl) => {
    expect(entryUrlProblem({ remoteUrl })).toMatch(/allowPrivateEndpoint allows it/);
    expect(entryUrlProblem({ remoteUrl, allowPrivateEndpoint: true })).toBeUndefined();
  });

  it.each(PUBLIC)('%s is accepted', (remoteUrl) => {
    expect(entryUrlProblem({ remoteUrl })).toBeUndefined();
  });

  it.each(['ftp://a/', 'mcp.example.com', 'https://user:hunter2@a.example.com/', 'javascript:alert(1)'])(
    '%s is refused without being quoted',
    (remoteUrl) => {
      expect(entryUrlProblem({ remoteUrl, allowPrivateEndpoint: true })).toMatch(/^(expected|must not)/);
      expect(entryUrlProblem({ remoteUrl })).not.toContain('hunter2');
    },
  );
});
