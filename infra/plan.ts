import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Worker } from '#shared/http/worker.ts'
import type { Capability } from '#shared/kernel/capabilities.ts'
import { ConfigError } from './config.ts'

/** Declarations by function. The infrastructure code reads nothing else of the functions. */
export type Registry = { requestFunctions: Record<string, Endpoint[]>; workerFunctions: Record<string, Worker[]> }

/** Lambda function to deploy. */
export type FunctionPlan = {
  /** Name in `functions/units.ts`. */
  name: string
  /** Permissions of its role: the union of what its endpoints or workers declare. */
  capabilities: Capability[]
  timeoutSeconds: number
  memoryMb: number
  /** True if its endpoints wait on an agent. Their answers are streamed and may take minutes. */
  waits: boolean
  /** Empty for a function that serves requests. */
  workers: Worker[]
}

/** Timeout of API Gateway. A function that works longer costs money for nothing. */
const requestSeconds = 29
/** Longest wait: a regional API ends a silent stream, or a call, after 5 minutes. */
export const WAITING_SECONDS = 300
/** Time for which CloudFront waits for the next byte of an answer: its maximum, unless the account's quota was raised. */
export const EDGE_SECONDS = 120
/** Memory of request functions. CPU scales with it, and below about 1 GB parsing the bundle dominates a cold start. */
const requestMemoryMb = 1024
const workerMemoryMb = 512

/**
 * Plans the functions to deploy, ordered by name.
 *
 * @throws {ConfigError} if a function mixes endpoints that wait with others: they answer differently, and quick calls would compete
 * with waiting ones for executions
 */
export function planFunctions({ requestFunctions, workerFunctions }: Registry): FunctionPlan[] {
  const requests = Object.entries(requestFunctions).map(([name, endpoints]): FunctionPlan => {
    const waiting = endpoints.filter((endpoint) => endpoint.waits === true)
    if (waiting.length !== 0 && waiting.length !== endpoints.length) {
      throw new ConfigError(
        `functions/units.ts: ${name}: ${waiting[0]?.id} waits and others do not; name its resource in a unit for calls that wait`,
      )
    }
    const waits = waiting.length > 0
    return {
      name,
      capabilities: unique(endpoints.flatMap((endpoint) => [...endpoint.needs, ...pipelineNeeds(endpoint)])),
      timeoutSeconds: waits ? WAITING_SECONDS : requestSeconds,
      memoryMb: requestMemoryMb,
      waits,
      workers: [],
    }
  })
  const others = Object.entries(workerFunctions).map(
    ([name, workers]): FunctionPlan => ({
      name,
      capabilities: unique(workers.flatMap(({ needs }) => needs)),
      timeoutSeconds: Math.max(...workers.map(({ timeoutSeconds }) => timeoutSeconds)),
      memoryMb: Math.max(...workers.map(({ memoryMb = workerMemoryMb }) => memoryMb)),
      waits: false,
      workers,
    }),
  )
  return [...requests, ...others].sort((a, b) => a.name.localeCompare(b.name))
}

/**
 * Returns the capabilities that the request pipeline needs for an endpoint, in addition to those that the endpoint declares: the
 * records of the credential and the rate limit, the keyring that signed the token, the keyring that seals cursors and stored answers,
 * and the bucket for answers that are too large for a record.
 */
function pipelineNeeds({
  caller,
  method,
  list,
  anonymous,
}: Pick<Endpoint, 'caller' | 'method' | 'list' | 'anonymous'>): Capability[] {
  const needs: Capability[] = []
  if (caller !== 'none' || method === 'POST' || anonymous) needs.push('table:read', 'table:write')
  if (caller !== 'none' && caller !== 'client') needs.push('keys:public')
  if (method === 'POST' || (list === 'page' && caller !== 'none')) needs.push('keys:data')
  if (method === 'POST') needs.push('objects:read', 'objects:write')
  return needs
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)].sort()

/** Converts `fan-out` to `FanOut`, the form of construct ids of functions and queues. */
export const pascal = (name: string): string =>
  name.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter: string) => letter.toUpperCase())
