import { resolveUrl } from '../../session/config.ts'
import { failureOf } from '../../session/failure.ts'
import { session } from '../../session/session.ts'
import type { Schemas } from './api.ts'

type Step = Schemas['RunStep']
type Run = Schemas['Run']

interface RunListener {
  step(step: Step): void
  state(state: Partial<Run>): void
  /** Events were missed; the run has to be reloaded. */
  gap(): void
  connected(is: boolean): void
}

const END = ['succeeded', 'failed', 'cancelled']

/** Parses an event stream into the events that arrive together, each with its fields (HTML standard, “Server-sent events”). */
async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Map<string, string>[]> {
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
      yield whole.map(
        (block) => new Map(block.split('\n').map((line) => [line.split(':')[0] ?? '', line.replace(/^[^:]*: ?/, '')])),
      )
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/**
 * Streams a run's progress until it ends or `signal` aborts. The token is sent in a header, never in a URL. A broken
 * connection resumes after the last event received.
 */
export const followRun = async (id: string, listener: RunListener, signal: AbortSignal): Promise<void> => {
  let last = ''
  let over = false
  for (let failures = 0; !signal.aborted && !over; ) {
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      const token = session()?.token
      if (token) headers.authorization = `Bearer ${token}`
      if (last) headers['last-event-id'] = last
      const response = await fetch(resolveUrl(`console/runs/${id}/stream`), {
        headers,
        signal,
        cache: 'no-store',
        credentials: 'omit',
      })
      if (response.status === 204) return
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return
      if (!response.ok || !response.body) throw failureOf(response, {})
      listener.connected(true)
      failures = 0
      for await (const events of parseEvents(response.body)) {
        // A stream begins with all earlier states. The page already shows a later one.
        let latest: string | undefined
        for (const fields of events) {
          const [event, data] = [fields.get('event'), fields.get('data')]
          last = fields.get('id') ?? last
          if (!data) continue
          if (event === 'step') listener.step(JSON.parse(data))
          if (event === 'gap') listener.gap()
          if (event === 'state') latest = data
        }
        if (!latest) continue
        const state = JSON.parse(latest) as Partial<Run>
        listener.state(state)
        over = END.includes(state.status ?? '')
      }
    } catch {
      if (signal.aborted) return
      listener.connected(false)
      failures++
    }
    if (!over) await sleep(Math.min(1_000 * 2 ** failures, 20_000) * (0.5 + Math.random() / 2), signal)
  }
}
