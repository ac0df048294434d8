/**
 * Takes the place of `@aws-sdk/middleware-endpoint-discovery` in the bundles: DynamoDB stopped using endpoint discovery, it is off
 * unless somebody turns it on, and its cache brings a collection library along (9 KB).
 */

/** The setting that the SDK reads for endpoint discovery, fixed at "off". */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: false,
}

/** Configures a client without endpoint discovery. */
export function resolveEndpointDiscoveryConfig<T extends object>(input: T) {
  return Object.assign(input, { endpointDiscoveryEnabled: async () => false, isClientEndpointDiscoveryEnabled: false })
}
