import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE } from '#shared/kernel/clock.ts'

// biome-ignore lint/suspicious/noExplicitAny: it reads answers of every shape
type Json = any

export interface Sent {
  headers?: Record<string, string>
  body?: unknown
}

/** Client that repeats requests until it gets an answer that isn't a passing fault. */
export interface PatientClient {
  (method: string, path: string, sent?: Sent): Promise<Json>
  /** Repeated requests, and how often. */
  repeated: Map<string, number>
}

/** Returns true for faults that pass: rate limits, a concurrent request with the same Idempotency-Key, and server errors. */
const isPassing = (status: number, headers: Record<string, string> = {}): boolean =>
  status === 429 || status >= 500 || (status === 409 && 'idempotency-key' in headers)

/** Time limit, longer than any fault. */
const PATIENCE_MS = 5 * MINUTE

/** Creates a client that throws for every other error, and after five minutes of repeating. */
export const patientClient = (baseUrl: string): PatientClient => {
  const repeated = new Map<string, number>()
  const call = async (method: string, path: string, { headers, body }: Sent = {}): Promise<Json> => {
    for (const until = performance.now() + PATIENCE_MS; ; ) {
      const response = await fetch(baseUrl + path, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).catch(() => undefined)
      const text = await response?.text().catch(() => undefined)
      if (response?.ok && text !== undefined) return text ? JSON.parse(text) : undefined
      const status = response?.status ?? 0
      const passes = status === 0 || response?.ok || isPassing(status, headers)
      if (!passes || performance.now() > until) {
        throw new Error(`${method} ${path} answered ${status}: ${text?.slice(0, 1_000)}`)
      }
      const reason = status === 0 || response?.ok ? 'no answer' : `HTTP ${status}`
      repeated.set(reason, (repeated.get(reason) ?? 0) + 1)
      await pause(250)
    }
  }
  return Object.assign(call, { repeated })
}
