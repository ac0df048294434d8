import { at } from '../../session/config.ts'
import { failureOf } from '../../session/failure.ts'
import { session } from '../../session/session.ts'
import type { Schemas } from './api.ts'

type Step = Schemas['RunStep']
type Run = Schemas['Run']

interface Told {
  step(step: Step): void
  state(state: Partial<Run>): void
  /** Something is not known any more: read the run again. */
  gap(): void
  connected(is: boolean): void
}

const END = ['succeeded', 'failed', 'cancelled']

/** Blocks of a stream of events, each with its fields (HTML standard, “Server-sent events”). */
async function* blocks(body: ReadableStream<Uint8Array>): AsyncGenerator<Map<string, string>> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const whole = text.split('\n\n')
      text = whole.pop() ?? ''
      for (const block of whole) {
        yield new Map(block.split('\n').map((line) => [line.split(':')[0] ?? '', line.replace(/^[^:]*: ?/, '')]))
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/**
 * Tells of a run as it goes, until it ends or nobody looks any more. The token goes into a header and never into an address;
 * a connection that was cut begins where it ended.
 */
export const followRun = async (id: string, told: Told, signal: AbortSignal): Promise<void> => {
  let last = ''
  let over = false
  for (let failures = 0; !signal.aborted && !over; ) {
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      const token = session()?.token
      if (token) headers.authorization = `Bearer ${token}`
      if (last) headers['last-event-id'] = last
      const response = await fetch(at(`console/runs/${id}/stream`), {
        headers,
        signal,
        cache: 'no-store',
        credentials: 'omit',
      })
      if (response.status === 204) return
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return
      if (!response.ok || !response.body) throw failureOf(response, {})
      told.connected(true)
      failures = 0
      for await (const fields of blocks(response.body)) {
        const [event, data] = [fields.get('event'), fields.get('data')]
        last = fields.get('id') ?? last
        if (!data) continue
        if (event === 'step') told.step(JSON.parse(data))
        if (event === 'gap') told.gap()
        if (event === 'state') {
          const state = JSON.parse(data) as Partial<Run>
          told.state(state)
          over = END.includes(state.status ?? '')
        }
      }
    } catch {
      if (signal.aborted) return
      told.connected(false)
      failures++
    }
    if (!over) await pause(Math.min(1_000 * 2 ** failures, 20_000) * (0.5 + Math.random() / 2), signal)
  }
}
