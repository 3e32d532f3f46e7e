import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo } from '../../app/router.ts';
import { safeUrl } from '../../app/safe-url.ts';
import type { RegistryServer } from '../../app/shapes.ts';
import { plainText } from '../../widgets/plain-text.ts';
import { RegistryProblem } from './registry-problem.tsx';
import { kindOfImage } from './registry-search.tsx';
import { RunForm } from './run-form.tsx';

/** One server of the registry: what it is and what it may reach, beside the form that runs it. */
export function EntryPage({ name, offer }: { readonly name: string; readonly offer: Offer }): JSX.Element {
  const found = useResource(
    (signal) => call('getRegistryServer', { path: { name: 'default', serverName: name }, signal }),
    [name],
    ['registry'],
  );
  const server = found.data.value?.server ?? found.data.value?.remote_server;
  const isRemote = found.data.value?.is_remote ?? false;
  return (
    <>
      <p class="back">
        <a href={linkTo('browse')}>Browse</a>
      </p>
      <div class="title">
        <h1>{server?.title || name}</h1>
      </div>
      <RegistryProblem problem={found.problem.value} retry={found.reload} />
      {server !== undefined && (
        <div class="columns">
          <div>
            <About server={server} isRemote={isRemote} />
          </div>
          {!offer.readOnly && (
            <section aria-label="Run it">
              <h2>Run it</h2>
              <RunForm entry={server} isRemote={isRemote} />
            </section>
          )}
        </div>
      )}
    </>
  );
}

function About({ server, isRemote }: { readonly server: RegistryServer; readonly isRemote: boolean }): JSX.Element {
  const { description, overview, tags = [], tools = [], not_used: notUsed = [] } = server;
  return (
    <>
      <p class="lead">{description}</p>
      {tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
      <dl class="facts">
        <dt>Name</dt>
        <dd>{server.name}</dd>
        <dt>{isRemote ? 'Address' : kindOfImage(server.image) === 'container' ? 'Image' : 'Package'}</dt>
        <dd>
          <code>{isRemote ? server.url : server.image}</code>
        </dd>
        <dt>Transport</dt>
        <dd>{server.transport}</dd>
        <Fact title="Tier" text={server.tier} />
        <Fact title="State" text={server.status} />
        <Fact title="Source" text={server.repository_url} />
        <Fact title="Signed by" text={server.provenance?.signer_identity ?? server.provenance?.repository_uri} />
        <Fact title="Changed" text={server.metadata?.last_updated} />
        {!isRemote && (
          <>
            <dt>May reach</dt>
            <dd>
              {reachText(server)}
              {kindOfImage(server.image) !== 'container' && <div class="muted">{PROCESS_NOTE}</div>}
            </dd>
          </>
        )}
      </dl>
      {notUsed.length > 0 && <p class="note">The registry also asks for what is not done: {notUsed.join('; ')}</p>}
      {tools.length > 0 && (
        <section aria-label="Tools">
          <h2>Tools ({tools.length})</h2>
          <ul class="tags">
            {tools.map((tool) => (
              <li key={tool}>{tool}</li>
            ))}
          </ul>
        </section>
      )}
      {overview !== undefined && overview !== '' && (
        <section aria-label="Overview">
          <h2>Overview</h2>
          <div class="readme">{plainText(overview)}</div>
        </section>
      )}
    </>
  );
}

function Fact({ title, text }: { readonly title: string; readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined || text === '') return null;
  const url = safeUrl(text);
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {url === undefined ? (
          text
        ) : (
          <a href={url} target="_blank" rel="noreferrer noopener">
            {text}
          </a>
        )}
      </dd>
    </>
  );
}

/** The limits of an entry are those of a container. */
const PROCESS_NOTE =
  'This is so in a container. Where neither Docker nor Podman answers, a package runs as a process with your rights.';

function reachText({ permissions }: RegistryServer): string {
  const outbound = permissions?.network?.outbound;
  const paths = [...(permissions?.read ?? []), ...(permissions?.write ?? [])];
  const files = paths.length > 0 ? `; files: ${paths.join(', ')}` : '; no files of this machine';
  if (permissions?.privileged) return 'everything on this machine (privileged)';
  if (outbound === undefined || outbound.insecure_allow_all) return `any host on the network${files}`;
  const hosts = outbound.allow_host ?? [];
  const ports = outbound.allow_port?.length ? ` (port ${outbound.allow_port.join(', ')})` : '';
  return `${hosts.length > 0 ? `hosts ${hosts.join(', ')}${ports}` : 'no host on the network'}${files}`;
}
