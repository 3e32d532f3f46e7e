import type { Section } from '../section.ts';

/** The invocation forms of the run command and what it does with a workload. */
export const forms = [
  {
    source: 'run spec §1 what the command does',
    says: {
      'run.command.one-workload': 'run starts one MCP server as a workload',
      'run.command.proxy-in-front': 'an HTTP proxy listens in front of the started workload',
      'run.command.background-default': 'the workload stays in the background unless --foreground is given',
    },
  },
  {
    source: 'run spec §2 resources and their fields',
    says: {
      'run.command.repeatable-options': 'labels, volumes, secrets and published ports are repeatable options',
    },
  },
  {
    source: 'run spec §2 resources and their fields',
    says: {
      'run.command.repeatable-env': 'environment variables are a repeatable option',
    },
  },
  {
    source: 'run spec §4 command forms',
    says: {
      'run.form.syntax': 'the syntax is run [flags] SERVER_OR_IMAGE_OR_PROTOCOL [-- ARGS...]',
      'run.form.arguments-after-dashes': 'arguments after -- reach the MCP server unchanged',
      'run.form.uvx': 'run uvx://<package> runs the package with the Python runner',
      'run.form.go': 'run go://<package> runs the package with the go runner',
      'run.form.go-local-path': 'go:// with a path that starts with ./ or ../ builds and runs the local project',
      'run.form.generates-container': 'a protocol scheme generates a container that runs the package',
      'run.form.npx': 'run npx://<package> runs the package with npx',
      'run.form.registry-name':
        'run <server-name> looks the name up in the registry and uses its transport, permissions and environment variables',
      'run.form.url': 'run <URL> starts a remote MCP server as a workload by proxying requests to the URL',
      'run.form.url-name': 'the URL form takes --name',
    },
  },
  {
    source: 'run spec §4 command forms',
    says: {
      'run.form.url-client-configuration': 'a URL workload supports client configuration like a local one',
    },
  },
  {
    source: 'run spec §4 dynamic client registration',
    says: {
      'run.registration.automatic': 'without client credentials an OAuth client is registered by RFC 7591',
      'run.registration.discovered-by-oidc': 'the registration endpoint is discovered through OIDC',
      'run.registration.pkce': 'the registered client uses the PKCE flow',
    },
  },
  {
    source: 'run spec §4 command forms',
    says: {
      'run.form.from-config': 'run --from-config <path> runs from a previously exported configuration file',
      'run.form.url-tool-filter-import-export':
        'a URL workload supports tool filtering, import and export like a local one',
    },
  },
  {
    source: 'run spec §1 and §4 container images',
    says: {
      'run.command.container-transport-and-profile':
        'a container is started with the chosen transport and permission profile',
      'run.form.container-image': 'run <container-image> runs the image directly with the given arguments',
      'run.form.network-host': '--network host joins the host network',
      'run.form.network-custom': '--network takes the name of a custom network',
      'run.form.network-default-bridge': 'without --network the default bridge is used',
      'run.form.network-any-mode': 'any network mode that the container runtime accepts is accepted',
    },
  },
] as const satisfies readonly Section[];
