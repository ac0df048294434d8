import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Worker } from '#shared/http/worker.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { ConfigError } from './config.ts'

/** What the functions declare of themselves; the infrastructure knows nothing else of them. */
export type Registry = { requestFunctions: Record<string, Endpoint[]>; workers: Worker[] }

/** One Lambda function as it is to be deployed. */
export type FunctionPlan = {
  /** Its folder under `functions/`. */
  name: string
  /** What its role may do: what its endpoints or its worker declare, together. */
  capabilities: Capability[]
  timeoutSeconds: number
  memoryMb: number
  /** Its endpoints wait on an agent, so it answers as a stream and may take minutes. */
  waits: boolean
  /** Present if the function is no request function. */
  worker?: Worker
}

/** API Gateway gives an answer up after 29 seconds; a function that works on is paid for nothing. */
const requestSeconds = 29
/** The longest wait: a regional API ends a stream that was silent, or a call, after 5 minutes. */
export const WAITING_SECONDS = 300
/** CPU comes with memory; below about 1 GB a cold start of a request function is dominated by parsing its bundle. */
const requestMemoryMb = 1024
const workerMemoryMb = 512

/**
 * The functions to deploy, in the order of their names.
 *
 * @throws {ConfigError} if a function mixes endpoints that wait with ones that do not: they differ in how they answer, and one
 * that waits would have its executions taken by quick calls.
 */
export function planFunctions({ requestFunctions, workers }: Registry): FunctionPlan[] {
  const requests = Object.entries(requestFunctions).map(([name, endpoints]): FunctionPlan => {
    const waiting = endpoints.filter((endpoint) => endpoint.waits === true)
    if (waiting.length !== 0 && waiting.length !== endpoints.length) {
      throw new ConfigError(
        `functions/${name}: ${waiting[0]?.id} waits and others do not; give it to a function for calls that wait`,
      )
    }
    const waits = waiting.length > 0
    return {
      name,
      capabilities: unique(endpoints.flatMap((endpoint) => [...endpoint.needs, ...pipelineNeeds(endpoint)])),
      timeoutSeconds: waits ? WAITING_SECONDS : requestSeconds,
      memoryMb: requestMemoryMb,
      waits,
    }
  })
  const others = workers.map(
    (worker): FunctionPlan => ({
      name: worker.name,
      capabilities: unique(worker.needs),
      timeoutSeconds: worker.timeoutSeconds,
      memoryMb: worker.memoryMb ?? workerMemoryMb,
      waits: false,
      worker,
    }),
  )
  return [...requests, ...others].sort((a, b) => a.name.localeCompare(b.name))
}

/**
 * What the request pipeline needs to serve an endpoint, whatever that endpoint declares of its own: the credential's record and
 * the rate limit's, the ring that signed the token, the ring that seals cursors and kept answers, and the
 * bucket for answers that are too large for a record.
 */
function pipelineNeeds({ caller, method, list }: Pick<Endpoint, 'caller' | 'method' | 'list'>): Capability[] {
  const needs: Capability[] = []
  if (caller !== 'none' || method === 'POST') needs.push('table:read', 'table:write')
  if (caller === 'integration' || caller === 'console') needs.push('keys:tokens')
  if (caller === 'admin') needs.push('keys:admin')
  if (method === 'POST' || list === 'page') needs.push('keys:data')
  if (method === 'POST') needs.push('objects:read', 'objects:write')
  return needs
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)].sort()

/** `stream-relay` → `StreamRelay`: how functions and queues are named among the stack's constructs. */
export const pascal = (name: string): string =>
  name.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter: string) => letter.toUpperCase())
