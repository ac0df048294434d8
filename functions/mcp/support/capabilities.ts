import type { Settings } from '#shared/kernel/settings.ts'
import type { ClientMethod } from './client-method.ts'
import { ELICITATION } from './elicitation.ts'
import { isObject, type Lane, MCP_ERRORS, McpError, META, TASKS } from './protocol.ts'
import { ROOTS } from './roots.ts'
import { SAMPLING } from './sampling.ts'

const METHODS: readonly ClientMethod[] = [ELICITATION, SAMPLING, ROOTS]

/** Capability of a client that a tool can require. */
export type Capability = ClientMethod['capability'] | 'tasks'

/** Capabilities as a client declares them. */
type Declared = Record<string, unknown>

/** Reports whether the client follows tasks. */
export const followsTasks = ({ isModern, capabilities: { extensions } }: Lane): boolean =>
  isModern && isObject(extensions) && isObject(extensions[TASKS])

const has = (lane: Lane, capability: Capability): boolean =>
  capability === 'tasks' ? followsTasks(lane) : isObject(lane.capabilities[capability])

const methodOf = (method: string): ClientMethod | undefined => METHODS.find((one) => one.method === method)

/** Reports whether the client can answer a request of this method. */
export const takes = ({ capabilities }: Pick<Lane, 'capabilities'>, method: string, params: object): boolean => {
  const known = methodOf(method)
  const declared = known && capabilities[known.capability]
  return isObject(declared) && known?.takes(declared, params) === true
}

/** Returns the capabilities that the client would have to declare for these requests. */
export const neededFor = (requests: readonly { method: string; params: object }[]): Declared => {
  const needed: Record<string, Record<string, object>> = {}
  for (const { method, params } of requests) {
    const known = methodOf(method)
    if (known) needed[known.capability] = { ...needed[known.capability], ...known.needs(params) }
  }
  return needed
}

/** Returns the names of capabilities, such as `elicitation` and `sampling.tools`. */
export const namesOf = (needed: Declared): string =>
  Object.entries(needed)
    .flatMap(([name, parts]) => {
      const inner = Object.keys(isObject(parts) ? parts : {})
      return inner.length === 0 ? [name] : inner.map((part) => (name === 'extensions' ? part : `${name}.${part}`))
    })
    .join(', ')

/**
 * Returns the error for capabilities that a call needs and the client lacks.
 * @param instead what else its caller can do, as a sentence
 */
export const missingCapabilities = ({ isModern }: Lane, needed: Declared, instead = ''): McpError => {
  const place = isModern ? `_meta["${META.capabilities}"]` : 'the capabilities of initialize'
  const text =
    `The call needs capabilities that the client didn’t declare: ${namesOf(needed)}. If the client has them, declare them in ` +
    `${place}, and repeat the call; otherwise use a client that has them.${instead && ` ${instead}`}`
  return new McpError(MCP_ERRORS.missingCapability, text, {
    status: isModern ? 400 : 200,
    data: { requiredCapabilities: needed },
  })
}

/** Sentence for clients that can't show an agent's questions. @param runId run that ended with a question */
export const askInConsole = ({ baseUrl }: Pick<Settings, 'baseUrl'>, runId?: string): string =>
  runId === undefined
    ? `A person of the workspace can also talk to the agent in the console (${baseUrl}/app), where they answer its questions.`
    : `A person of the workspace can run it again in the console (${baseUrl}/app#/runs/${runId}), and answer there.`

/** @throws {McpError} `missingCapability` */
export const requireCapabilities = (
  lane: Lane,
  required: readonly Capability[],
  { baseUrl }: Pick<Settings, 'baseUrl'>,
): void => {
  const missing = required.filter((capability) => !has(lane, capability))
  if (missing.length === 0) return
  const needed = Object.fromEntries(
    missing.map((capability) => (capability === 'tasks' ? ['extensions', { [TASKS]: {} }] : [capability, {}])),
  )
  throw missingCapabilities(lane, needed, missing.includes('elicitation') ? askInConsole({ baseUrl }) : '')
}

/** Largest description of one capability that is kept whole, in characters of JSON. */
const LARGEST = 1_000
/** Most parts whose names are kept of a larger one. */
const MOST_PARTS = 10

/** Returns a client's capabilities as far as they matter to agents: whole, or the names of their parts if they are large. */
export const keptCapabilities = ({ capabilities }: Pick<Lane, 'capabilities'>): Declared =>
  Object.fromEntries(
    METHODS.flatMap(({ capability }) => {
      const value = capabilities[capability]
      if (!isObject(value)) return []
      if (JSON.stringify(value).length <= LARGEST) return [[capability, value]]
      const parts = Object.keys(value).filter((name) => name.length <= 64)
      return [[capability, Object.fromEntries(parts.slice(0, MOST_PARTS).map((name) => [name, {}]))]]
    }),
  )
