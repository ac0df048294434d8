import type { Endpoint } from '#shared/http/endpoint.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { consoleScenarios } from './console.ts'
import { integrationScenarios } from './integration.ts'
import { mcpScenarios } from './mcp.ts'
import { oauthScenarios } from './oauth.ts'
import type { Scenario } from './scenario.ts'
import { toolScenarios } from './tools.ts'

/** Scenarios beyond the sample calls: full pages, repeats under a key, and each way through an endpoint. */
export const WRITTEN: readonly Scenario[] = [
  ...integrationScenarios,
  ...toolScenarios,
  ...mcpScenarios,
  ...oauthScenarios,
  ...consoleScenarios,
]

/** Returns at least one request of an endpoint: its own scenarios, or its sample call of the contract tests. */
export const scenariosOf = (endpoint: Endpoint): Scenario[] => {
  const name = `${endpoint.method} ${endpoint.path}`
  const written = WRITTEN.filter((scenario) => scenario.endpoint === name)
  return written.length > 0 ? written : [sampled(endpoint, name)]
}

const sampled = (endpoint: Endpoint, name: string): Scenario => ({
  endpoint: name,
  async prepare({ contract, call }) {
    const sample = await sampleCall(contract, endpoint)
    return { send: () => call(endpoint.method, sample.path, sample), works: sample.works }
  },
})
