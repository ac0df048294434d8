import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE } from '#shared/kernel/clock.ts'

// biome-ignore lint/suspicious/noExplicitAny: it reads answers of every shape
type Json = any

export interface Sent {
  headers?: Record<string, string>
  body?: unknown
}

/** A client that asks again until it gets an answer that is not the fault of the moment. */
export interface PatientClient {
  (method: string, path: string, sent?: Sent): Promise<Json>
  /** What it asked again for, and how often. */
  repeated: Map<string, number>
}

/** Asked again: the rate, a request of the same Idempotency-Key that has not ended, and what is the platform's own fault. */
const isPassing = (status: number, headers: Record<string, string> = {}): boolean =>
  status === 429 || status >= 500 || (status === 409 && 'idempotency-key' in headers)

/** Longer than any fault lasts. */
const PATIENCE_MS = 5 * MINUTE

/** @returns a client that throws for every other refusal, and when it has asked for five minutes */
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
