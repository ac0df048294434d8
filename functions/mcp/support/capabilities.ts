import type { Lane } from './lanes.ts'
import { isObject, MCP_ERRORS, McpError, TASKS } from './protocol.ts'

/** Capability of a client that a tool can require. */
export type Capability = 'elicitation' | 'sampling' | 'roots' | 'tasks'

/** Reports whether the client follows tasks. */
export const followsTasks = ({ isModern, capabilities: { extensions } }: Lane): boolean =>
  isModern && isObject(extensions) && isObject(extensions[TASKS])

const has = (lane: Lane, capability: Capability): boolean =>
  capability === 'tasks' ? followsTasks(lane) : isObject(lane.capabilities[capability])

/** Reports whether the client can answer a request of this method. */
export const takes = ({ capabilities }: Pick<Lane, 'capabilities'>, method: string, params: object): boolean => {
  const { elicitation, sampling, roots } = capabilities
  switch (method) {
    case 'elicitation/create': {
      if (!isObject(elicitation)) return false
      const isForAddress = 'mode' in params && params.mode === 'url'
      // Clients that name no mode take forms.
      return isForAddress ? 'url' in elicitation : 'form' in elicitation || !('url' in elicitation)
    }
    case 'sampling/createMessage':
      return isObject(sampling)
    default:
      return isObject(roots)
  }
}

/** Returns the error for capabilities that a call needs and the client lacks. */
export const missingCapabilities = ({ isModern }: Lane, missing: readonly Capability[]): McpError => {
  const named = missing.map((capability) =>
    capability === 'tasks' ? ['extensions', { [TASKS]: {} }] : [capability, {}],
  )
  return new McpError(MCP_ERRORS.missingCapability, `The client must be able to do: ${missing.join(', ')}.`, {
    status: isModern ? 400 : 200,
    data: { requiredCapabilities: Object.fromEntries(named) },
  })
}

/** @throws {McpError} `missingCapability` */
export const requireCapabilities = (lane: Lane, required: readonly Capability[]): void => {
  const missing = required.filter((capability) => !has(lane, capability))
  if (missing.length > 0) throw missingCapabilities(lane, missing)
}

/** Largest description of one capability that an agent gets, in characters of JSON. */
const LARGEST = 1_000

/** Returns what an agent may know of its client's capabilities. */
export const shownCapabilities = ({ capabilities }: Lane): Record<string, unknown> =>
  Object.fromEntries(
    (['elicitation', 'sampling', 'roots'] as const).flatMap((name) => {
      const value = capabilities[name]
      if (!isObject(value)) return []
      return [[name, JSON.stringify(value).length <= LARGEST ? value : {}]]
    }),
  )
