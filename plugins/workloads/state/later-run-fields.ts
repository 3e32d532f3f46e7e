/** Fields of an exported run configuration that are not available yet, with the feature that they come with. */
export const AVAILABLE_WITH: ReadonlyMap<string, string> = new Map([
  ...fields('container workloads', ['base_name', 'container_name']),
  ...fields('the run configuration of rate limits', ['rate_limit_namespace']),
  ...fields('runs that create their own pods', ['k8s_pod_template_patch', 'mcpserver_generation']),
  ...fields('explicit middleware', ['additional_middleware_configs', 'middleware_configs']),
]);

function fields(feature: string, names: readonly string[]): [string, string][] {
  return names.map((name) => [name, feature]);
}
