import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventStream, type ServerSentEvent } from '#shared/http/server-sent-events.ts'
import { SECOND } from '#shared/kernel/clock.ts'

const COMMENT = ': still here\n'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Follows a stream. The source yields what the test sends. */
const follow = () => {
  const sent: (ServerSentEvent | undefined)[] = []
  let wake = () => {}
  let hasEnded = false
  async function* source(signal: AbortSignal) {
    signal.addEventListener('abort', () => wake())
    try {
      while (!signal.aborted) {
        if (sent.length > 0) yield sent.shift()
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      hasEnded = true
    }
  }
  const close = new AbortController()
  const pieces = eventStream(source).pieces(close.signal)[Symbol.asyncIterator]()
  const read: string[] = []
  const reading = (async () => {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) read.push(next.value)
  })()
  return {
    read,
    reading,
    close: () => close.abort(),
    hasEnded: () => hasEnded,
    async send(event: ServerSentEvent | undefined) {
      sent.push(event)
      wake()
      await vi.advanceTimersByTimeAsync(0)
    },
  }
}

describe('an event stream', () => {
  it('has a comment after each 4 seconds of silence, before clients that wait for 5 give up', async () => {
    const { read, send, close, reading } = follow()
    await vi.advanceTimersByTimeAsync(4 * SECOND - 1)
    expect(read).toEqual(['retry: 1000\n'])
    await vi.advanceTimersByTimeAsync(1)
    expect(read.slice(1)).toEqual([COMMENT])
    await vi.advanceTimersByTimeAsync(8 * SECOND)
    expect(read.slice(1)).toEqual([COMMENT, COMMENT, COMMENT])
    await vi.advanceTimersByTimeAsync(3 * SECOND)
    await send({ event: 'message', data: { n: 1 } })
    await vi.advanceTimersByTimeAsync(4 * SECOND - 1)
    expect(read.slice(4)).toEqual(['event: message\ndata: {"n":1}\n\n'])
    await vi.advanceTimersByTimeAsync(1)
    expect(read.slice(5)).toEqual([COMMENT])
    close()
    await reading
  })

  it('is silent for no longer because its source looked and found nothing', async () => {
    const { read, send, close, reading } = follow()
    for (let n = 0; n < 8; n++) {
      await vi.advanceTimersByTimeAsync(SECOND / 2)
      await send(undefined)
    }
    expect(read.slice(1)).toEqual([COMMENT])
    close()
    await reading
  })

  it('ends its source and its timer when it is closed', async () => {
    const { hasEnded, close, reading } = follow()
    await vi.advanceTimersByTimeAsync(SECOND)
    close()
    await reading
    expect(hasEnded()).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })
})
