import type { paths } from './api.d.ts'
import { type AgentError, UnsendableAnswer } from './errors.ts'

/** Body of the call that ends a run. */
export type FinalAnswer = NonNullable<
  paths['/api/v1/runs/{id}/complete']['post']['requestBody']
>['content']['application/json']

const MAX_BYTES = 1024 * 1024

/**
 * Checks that an answer can be sent: it is JSON, and its output has at most 1 MiB.
 * @throws {UnsendableAnswer}
 */
export const checkSendable = ({ output }: FinalAnswer): void => {
  if (output === undefined || output === null) return
  const problem = problemIn(output, 'output', [])
  if (problem) throw new UnsendableAnswer(problem)
  const bytes = new TextEncoder().encode(JSON.stringify(output)).length
  if (bytes <= MAX_BYTES) return
  throw new UnsendableAnswer(`output has ${bytes} bytes, more than 1 MiB.`)
}

/** The answer for an error of the agent's own, shortened to what the platform takes. */
export const failedWith = ({ code, message }: AgentError): FinalAnswer => ({
  status: 'failed',
  error_code: code.slice(0, 100) || 'agent_failed',
  error_message: message.slice(0, 4_000),
})

/** The answer in place of one that the platform refused. */
export const refusedWith = (error: unknown): FinalAnswer =>
  failedWith(new UnsendableAnswer(error instanceof Error ? error.message : String(error)))

/** Says what JSON can't carry. A number that isn't finite would silently become null. */
const problemIn = (value: unknown, path: string, above: readonly object[]): string | undefined => {
  if (typeof value === 'bigint') return `${path} is a BigInt. Make it a number or a text.`
  if (typeof value === 'number' && !Number.isFinite(value)) return `${path} is ${value}.`
  if (typeof value !== 'object' || value === null) return undefined
  if (above.includes(value)) return `${path} contains itself.`
  try {
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return problemIn(toJSON.call(value, ''), path, [...above, value])
    for (const [name, inner] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`
      const problem = problemIn(inner, at, [...above, value])
      if (problem) return problem
    }
  } catch (error) {
    return `${path} can’t be read (${error}).`
  }
  return undefined
}
