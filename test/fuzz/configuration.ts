import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Principal } from './principals.ts'
import type { World } from './world.ts'

/** Extent of a fuzzing run. */
export interface Effort {
  /** Random requests for each operation that the principal may call. */
  examples: number
  /** Principals that also send values at and beyond the boundaries of the schemas. */
  coverage: 'none' | 'first' | 'all'
  /** True to call operations of other kinds of callers, too, once each. */
  foreign: boolean
  seed: number
}

const ENDPOINTS = Object.values(requestFunctions).flat()

const CHECKS = {
  not_a_server_error: true,
  status_code_conformance: true,
  content_type_conformance: true,
  response_headers_conformance: true,
  response_schema_conformance: true,
  negative_data_rejection: true,
  missing_required_header: true,
  unsupported_method: true,
  allow_header_conformance: true,
  ignored_auth: true,
  // The platform refuses some values that the schema allows: addresses must be public, cursors must be its own.
  positive_data_acceptance: false,
  // These checks need chains of calls, which are off because the document has no links.
  use_after_free: false,
  ensure_resource_availability: false,
  // Needs two identities in one run. The contract tests prove for every endpoint that another tenant's id finds
  // nothing.
  object_level_authorization: false,
}

/** Builds the configuration of schemathesis for one principal in a world. */
export const configurationOf = (
  principal: Principal,
  world: World,
  { examples, coverage, foreign, seed }: Effort,
  to: { baseUrl: string; report: string },
): string => {
  const kinds = Object.entries(world.ids)
  return [
    `base-url = ${toml(to.baseUrl)}`,
    `seed = ${seed}`,
    `headers = ${toml({ ...principal.credential(world), 'User-Agent': principal.name })}`,
    'continue-on-failure = true',
    'warnings = false',
    // A stream is left after its first event. The world's agent answers at once.
    'max-stream-events = 1',
    'request-timeout = 60.0',
    // Sends no made-up credential next to the real one. Where two kinds are accepted, the real one is enough.
    `generation = ${toml({ 'max-examples': examples, database: 'none', 'no-shrink': true, 'with-security-parameters': false })}`,
    `reports.json = ${toml({ enabled: true, path: to.report })}`,
    `phases.stateful.enabled = false`,
    `phases.coverage.enabled = ${coverage === 'all' || (coverage === 'first' && principal.first === true)}`,
    ...Object.entries(CHECKS).map(([name, enabled]) => `checks.${name}.enabled = ${enabled}`),
    // Fields that name a record sometimes get the id of an existing one.
    ...kinds.map(([kind, id]) => `dictionaries.${kind}.values = ${toml([id])}`),
    '[parameters]',
    ...kinds.flatMap(([kind]) =>
      ['body', 'query'].map((place) => {
        const field = kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
        return `"${place}.${field}_id" = ${toml({ dictionary: kind, probability: 0.5 })}`
      }),
    ),
    ...ENDPOINTS.flatMap((endpoint) => operation(endpoint, principal, world, foreign)),
  ].join('\n')
}

/** Limits for operations of other callers, which refuse everything. */
const ONCE = ['phases.coverage.enabled = false', 'phases.examples.enabled = false', 'generation.max-examples = 1']

/** Configures what differs for one operation. */
const operation = (endpoint: Endpoint, principal: Principal, world: World, foreign: boolean): string[] => {
  const spare = principal.spare?.(world, endpoint.id)
  const ids = { ...world.ids, ...spare?.ids }
  const path = Object.entries(endpoint.params).flatMap(([name, kind]) => {
    const value = kind === 'text' ? (world.texts[endpoint.id] ?? world.texts[name]) : ids[kind]
    return value === undefined ? [] : [[`path.${name}`, value]]
  })
  const client = endpoint.caller === 'client' && principal.caller === 'client' ? Object.entries(world.client) : []
  return [
    '[[operations]]',
    `include-operation-id = ${toml(endpoint.id)}`,
    `parameters = ${toml(Object.fromEntries([...path, ...client.map(([name, value]) => [`body.${name}`, value])]))}`,
    ...(spare ? [`headers = ${toml({ ...spare.credential, 'User-Agent': principal.name })}`] : []),
    ...(endpoint.caller === principal.caller ? [] : foreign ? ONCE : ['enabled = false']),
    // In OpenAPI 3.1 the schema describes the stream's whole text; schemathesis applies it to each event.
    ...([endpoint.produces].flat().includes('text/event-stream')
      ? ['checks.response_schema_conformance.enabled = false']
      : []),
  ]
}

/** Formats a value as TOML, whose basic strings are JSON's. */
const toml = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)} = ${toml(one)}`)
    .join(', ')} }`
}
